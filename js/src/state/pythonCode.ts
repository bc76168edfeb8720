/** The view as Python code that recreates it. */

import { OTHER_FLOW, STATE_KEYS, type ViewState } from "../wire/types";

/** A plain value as a Python literal. */
export function pythonLiteral(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** `flow.widget(…)` with everything that differs from the defaults. */
export function codeOf(state: ViewState, defaults: ViewState): string {
  const changed = STATE_KEYS.filter(
    (key) => pythonLiteral(state[key]) !== pythonLiteral(defaults[key]),
  );
  const keywords = changed.map((key) => {
    const isOther = key === "compare" && state.compare === OTHER_FLOW;
    return `${key}=${isOther ? OTHER_FLOW : pythonLiteral(state[key])}`;
  });
  return `flow.widget(${keywords.join(", ")})`;
}
