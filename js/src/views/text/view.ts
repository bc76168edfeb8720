/** The text view: running text, each token shaded by what it gives or takes. */

import { focusedRow, type Picture, pictureOf, rankingOf } from "../../data/layer";
import type { Palette } from "../../draw/colors";
import { button, element, group, markPressed } from "../../draw/dom";
import type { Pane } from "../../state/pane";
import { isEqual } from "../../state/signal";
import type { Focus, Role } from "../../wire/types";
import { describe } from "../../words/describe";
import { listenToFocus } from "../shared/tokens";
import type { View, ViewActions } from "../view";
import { type Looks, passage } from "./passage";
import { type Run, readRows } from "./reading";
import { findMatches, type Match, matchAfter } from "./search";
import { type SearchActions, searchBar } from "./searchBar";
import { canMute, type Shader, type Shading, shaderOf, shadingOf } from "./shade";
import { runAt, type TokenLook } from "./tokens";
import { labelOf, shadeLegend, titleOf } from "./words";

const ROLES: Role[] = ["key", "query"];

/** What is drawn. */
interface Drawn {
  picture: Picture;
  palette: Palette;
  shade: Shader;
  /** Whether queries and keys are one text. */
  isOneText: boolean;
  runs: Record<Role, Run[]>;
}

/** What is looked for, and what was found in which text. */
interface Found {
  query: string;
  matches: (Match & { role: Role })[];
  current: number;
}

export function textView(actions: ViewActions, signal: AbortSignal): View {
  let now: Drawn | null = null;
  let seen: Focus | null = null;
  let shading: Shading | null = null;
  let found: Found = { query: "", matches: [], current: 0 };

  const paint = (): void => {
    if (!now) return;
    const drawn = now;
    shading = shadingOf(drawn.picture, seen);
    const pinned = actions.pinned?.() ?? null;
    for (const role of textRoles(drawn)) {
      const marks = { on: rowIn(drawn, role, seen), pinned: rowIn(drawn, role, pinned), found };
      elements.passages[role].paint(looksOf(drawn, shading, role, marks));
    }
    markPressed(elements.turns, (index) => TURNS[index].role === pointingRole(actions));
  };
  const goTo = (current: number): void => {
    found = { ...found, current };
    const match = found.matches[current];
    if (match) elements.passages[match.role].reveal(match.from);
    elements.search.report(current, found.matches.length);
    paint();
  };
  const search = (query: string): void => {
    const matches = now ? matchesIn(now, query) : [];
    found = { query, matches, current: 0 };
    goTo(matchAfter(matches, elements.passages.key.top()));
  };
  const step = (by: 1 | -1): void => {
    const count = found.matches.length;
    if (count > 0) goTo((found.current + by + count) % count);
  };
  const elements = buildElements({ search, step }, actions, signal);
  for (const role of ROLES) {
    const focusAt = (target: Element | null) => now && focusOf(now, role, target, actions);
    listenToFocus(elements.passages[role].box, focusAt, actions, signal);
  }
  return {
    node: elements.node,
    draw: (pane, palette) => {
      const picture = pictureOf(pane);
      if (!picture) return false;
      now = drawnOf(pane, picture, palette);
      arrange(elements, now, pane.state.special === "dimmed");
      const matches = matchesIn(now, found.query);
      const current = Math.max(0, Math.min(found.current, matches.length - 1));
      found = { ...found, matches, current };
      elements.search.report(current, matches.length);
      return true;
    },
    highlight: (focus) => {
      seen = focus;
      if (now) revealFocus(elements, now, focus);
      paint();
    },
    legend: () => (now && shading ? shadeLegend(now.picture, shading, now.palette) : []),
    describe: (focus) => describe(requirePicture(now), focus),
    ranking: (focus) => rankingOf(requirePicture(now), focus),
  };
}

function requirePicture(now: Drawn | null): Picture {
  if (!now) throw new Error("Nothing has been drawn yet.");
  return now.picture;
}

type Elements = ReturnType<typeof buildElements>;

/** What a token of a single text does when it is pointed at. */
const TURNS: { role: Role; label: string; title: string }[] = [
  { role: "query", label: "takes", title: "shade what the token in focus takes from each token" },
  { role: "key", label: "gives", title: "shade what the token in focus gives to each token" },
];

function buildElements(searching: SearchActions, actions: ViewActions, signal: AbortSignal) {
  const passages = {
    key: passage("text that is read from", signal),
    query: passage("text that receives", signal),
  };
  const captions = {
    key: element("p", { class: "nv-passage-title" }, "read from"),
    query: element("p", { class: "nv-passage-title" }, "receives"),
  };
  const search = searchBar(searching, signal);
  const { node: roles, fill } = group("what the token in focus does", "nv-segmented");
  const turns = fill("all", () =>
    TURNS.map(({ role, label, title }) =>
      button(label, title, () => actions.choose({ role }), signal),
    ),
  );
  const tools = element("div", { class: "nv-tools nv-text-tools" }, roles, search.node);
  const texts = ROLES.flatMap((role) => [captions[role], passages[role].node]);
  const node = element("div", { class: "nv-running" }, tools, ...texts);
  return { node, passages, captions, search, roles, turns };
}

/** The role of a token that is pointed at, where queries and keys are one text. */
function pointingRole(actions: ViewActions): Role {
  return actions.role?.() ?? "query";
}

function drawnOf({ stream }: Pane, picture: Picture, palette: Palette): Drawn {
  const { rows } = picture;
  const runs = {
    key: readRows(rows.key, stream.keys),
    query: readRows(rows.query, stream.queries),
  };
  const isSame = isEqual(stream.keys.pieces, stream.queries.pieces);
  const isOneText = stream.kind !== "cross" && isSame;
  return { picture, palette, shade: shaderOf(picture, palette), isOneText, runs };
}

/** The texts that are shown, by role; a text in both roles is shown once. */
function textRoles({ isOneText }: Drawn): Role[] {
  return isOneText ? ["key"] : ROLES;
}

/** Put the texts in their boxes. */
function arrange(elements: Elements, now: Drawn, isDimmed: boolean): void {
  const { node, passages, captions, roles } = elements;
  const hasQueries = now.picture.values.length > 0;
  node.classList.toggle("nv-two-texts", !now.isOneText);
  node.classList.toggle("nv-quiet-text", isDimmed);
  roles.hidden = !now.isOneText || !hasQueries;
  for (const role of ROLES) {
    const isShown = textRoles(now).includes(role);
    passages[role].node.hidden = !isShown;
    captions[role].hidden = now.isOneText;
    if (isShown) passages[role].show(now.runs[role]);
  }
}

/** The token of an element, in the role that pointing at it has. */
function focusOf(
  { isOneText, picture }: Drawn,
  role: Role,
  target: Element | null,
  actions: ViewActions,
): Focus | null {
  const run = runAt(target);
  if (run === null) return null;
  const own = isOneText && picture.values.length > 0 ? pointingRole(actions) : role;
  return { role: own, token: picture.rows[own].pieces[run][0] };
}

/** The row of a token in one of the texts; null if it is not there. */
function rowIn({ isOneText, picture }: Drawn, role: Role, focus: Focus | null): number | null {
  const at = focusedRow(picture, focus);
  return at && (isOneText || at.role === role) ? at.row : null;
}

/** Scroll to the token in focus, unless the pointer is over its text. */
function revealFocus({ passages }: Elements, now: Drawn, focus: Focus | null): void {
  for (const role of textRoles(now)) {
    const row = rowIn(now, role, focus);
    // What the pointer is over does not move.
    if (row !== null && !passages[role].box.matches(":hover")) passages[role].reveal(row);
  }
}

function matchesIn(now: Drawn, query: string): Found["matches"] {
  return textRoles(now).flatMap((role) =>
    findMatches(now.runs[role], query).map((match) => ({ ...match, role })),
  );
}

/** What is marked in one text besides its shades. */
interface Marks {
  on: number | null;
  pinned: number | null;
  found: Found;
}

/** The look of each token of one text. */
function looksOf(
  { picture, palette, shade, isOneText }: Drawn,
  shading: Shading,
  role: Role,
  { on, pinned, found }: Marks,
): Looks {
  const isShaded = isOneText || shading.role === role;
  const matched = matchOfRows(found, role);
  const part = (row: number) =>
    isShaded && shading.full > 0 ? shading.shares[row] / shading.full : 0;
  const lean = (row: number) => shading.lean?.[row] ?? 1;
  const token = (row: number): TokenLook => {
    const color = part(row) > 0 ? shade(part(row), lean(row)) : null;
    return {
      shade: color,
      isStrong: color !== null && !canMute(color, palette),
      title: isShaded ? titleOf(picture, shading, row) : labelOf(picture, role, row),
      isOn: row === on,
      isPinned: row === pinned,
      match: matched.get(row) ?? null,
    };
  };
  const color = (row: number) => shade(1, lean(row));
  return { token, part, color, isMatch: (row) => matched.has(row), palette };
}

/** The rows of one text that match, and which belong to the current match. */
function matchOfRows({ matches, current }: Found, role: Role): Map<number, TokenLook["match"]> {
  const rows = new Map<number, TokenLook["match"]>();
  matches.forEach(({ from, to, role: own }, at) => {
    if (own !== role) return;
    for (let row = from; row < to; row++) {
      if (rows.get(row) !== "current") rows.set(row, at === current ? "current" : "other");
    }
  });
  return rows;
}
