/** The view as Python code that makes it again. */

import { CHOICES, type Choice } from "../wire/types";

/** A plain value as Python writes it. */
export function literal(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** `flow.widget(…)` with all that is chosen otherwise than at first. */
export function codeOf(choice: Choice, usual: Partial<Choice>): string {
  const named = CHOICES.filter((name) => literal(choice[name]) !== literal(usual[name]));
  const given = named.map((name) => {
    const value =
      name === "compare" && choice.compare === "other" ? "other" : literal(choice[name]);
    return `${name}=${value}`;
  });
  return `flow.widget(${given.join(", ")})`;
}
