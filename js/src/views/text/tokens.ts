/** The tokens of running text in the page, line by line. */

import { element } from "../../draw/dom";
import type { TextLine } from "./layout";
import type { Run } from "./reading";

/** How one token looks. */
export interface TokenLook {
  /** The color behind it; null if it has no share. */
  shade: string | null;
  /** Whether the muted ink would not be legible on this shade. */
  isStrong: boolean;
  title: string;
  isOn: boolean;
  isPinned: boolean;
  match: "current" | "other" | null;
}

/** The index of the token that contains an element; null if it is in none. */
export function runAt(target: Element | null): number | null {
  const token = target?.closest<HTMLElement>("[data-run]");
  return token ? Number(token.dataset.run) : null;
}

/** A line of tokens at this distance from the top. */
export function lineNode(
  runs: Run[],
  { from, to, isRtl, isCut }: TextLine,
  distance: number,
): HTMLElement {
  const tokens = runs
    .slice(from, to)
    .map((run, at) => tokenNode(run, runs[from + at + 1], from + at));
  const name = `nv-passage-line${isCut ? " nv-cut" : ""}`;
  const node = element("div", { class: name, dir: isRtl ? "rtl" : "ltr" }, ...tokens);
  node.style.top = `${distance}px`;
  return node;
}

/** Marks that change the direction of all text after them. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/;

/** A token: the area that reacts, with the space after it, around the part that is shaded. */
function tokenNode(run: Run, after: Run | undefined, index: number): HTMLElement {
  // Most tokens are not isolated, because words of one script must be ordered together.
  const isIsolated = run.special || TURNS.test(run.text);
  const direction: Record<string, string> = isIsolated ? { dir: "auto" } : {};
  const piece = element("span", { class: namesOf(run, after), ...direction }, run.text);
  const space = after?.joint === "space" ? [" "] : [];
  return element("span", { class: "nv-touch", "data-run": String(index) }, piece, ...space);
}

/** The classes of a token, by its neighbors and its kind. */
function namesOf(run: Run, after: Run | undefined): string {
  const isDirect = ({ joint }: Run) => joint === "glued" || joint === "direct";
  const names = {
    "nv-piece": true,
    "nv-special": run.special,
    "nv-joined": isDirect(run),
    "nv-followed": after !== undefined && isDirect(after),
    "nv-continued": run.continues,
    "nv-blank": [...run.text].every((letter) => "↵␣⇥∅·".includes(letter)),
  };
  return Object.entries(names)
    .flatMap(([name, isOn]) => (isOn ? [name] : []))
    .join(" ");
}

/** Give each token of a line its look. */
export function paintLine(line: HTMLElement, lookOf: (run: number) => TokenLook): void {
  for (const token of line.children) {
    const look = lookOf(Number((token as HTMLElement).dataset.run));
    const piece = token.firstElementChild as HTMLElement;
    token.setAttribute("title", look.title);
    piece.style.backgroundColor = look.shade ?? "";
    piece.classList.toggle("nv-strong", look.isStrong);
    piece.classList.toggle("nv-on", look.isOn);
    piece.classList.toggle("nv-pinned", look.isPinned);
    piece.classList.toggle("nv-match", look.match !== null);
    piece.classList.toggle("nv-current", look.match === "current");
  }
}
