/** What a trace leaves out, in sentences near the picture. */

import { isConnected, type Stack } from "../../data/stack";
import { button, element } from "../../draw/dom";
import { residualMeasure } from "../../state/opening";
import type { Pane } from "../../state/pane";
import { quote } from "../../words/describe";
import type { Makeup } from "./makeup";

/** A share that is 1 except for rounding. */
const ALL = 1 - 1e-5;

/** The share from which a trace is said to end at one token. */
const MOST = 0.9;

/** Whether the first token of a trace reads only itself in every layer, as in a causal model. */
function isFirstClosed({ mode, divisions, rows }: Stack): boolean {
  const isChained = mode === "traced" && divisions.length > 1 && rows.key.pieces.length > 1;
  return isChained && divisions.every(([first]) => first >= ALL);
}

/** Whether almost all of a trace ends at the first token because that one reads only itself. */
export function endsAtFirst({ stack, about, shares }: Makeup): boolean {
  return about?.role !== "key" && about?.row !== 0 && isFirstClosed(stack) && shares[0] >= MOST;
}

/** What to pass to `analyze`. */
const ARGUMENT = 'measures=[…, "attention-block"]';

/** That the residual connection is left out, and how to include it; empty if it is included. */
export function residualNote(stack: Stack, { flow, stream }: Pane): string {
  const { measure, mode, rows } = stack;
  if (measure.has_residual || !isConnected(mode)) return "";
  const isHeld = residualMeasure(flow, stream) !== null;
  const reason = isHeld
    ? `${measure.label} does not include it`
    : `this flow has no measure that includes it; analyze with ${ARGUMENT}`;
  const drift = isFirstClosed(stack)
    ? ` Layer by layer, paths gather at ${quote(rows.key.labels[0])}, because it can read only itself.`
    : "";
  return `Without the residual connection, through which a token keeps what it has: ${reason}.${drift}`;
}

/** A note with a button for the measure that includes the residual connection. */
export function createNote(choose: (measure: string) => void, signal: AbortSignal) {
  const node = element("p", { class: "nv-residual", role: "note" });
  let shown = "";
  const show = (stack: Stack, pane: Pane): void => {
    const text = residualNote(stack, pane);
    node.hidden = text === "";
    const { measure, compare } = pane.state;
    const held = text === "" ? null : residualMeasure(pane.flow, pane.stream);
    // In the second of two panes, the button would change the first; beside that measure, it is no use.
    const better = measure === compare || held?.id === compare ? null : held;
    const key = JSON.stringify([text, better?.id]);
    if (key === shown) return;
    shown = key;
    const [before, after] = text.split(ARGUMENT);
    const code = after === undefined ? [] : [element("code", {}, ARGUMENT), after];
    node.replaceChildren(before, ...code);
    if (!better) return;
    const title = `trace ${better.label}, which includes the residual connection`;
    node.append(
      " ",
      button(`include it: ${better.label}`, title, () => choose(better.id), signal),
    );
  };
  return { node, show };
}
