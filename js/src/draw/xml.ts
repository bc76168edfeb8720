/** Markup as text, in which no text can become markup. */

/** What no XML file may hold: most control characters, halves of pairs, and two that are none. */
const FORBIDDEN = /[^\P{Cc}\t\n\r\x7f-\x9f]|\p{Surrogate}|[\ufffe\uffff]/gu;

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** A text as XML writes it. */
export function escaped(text: string): string {
  return text.replace(FORBIDDEN, "\ufffd").replace(/[&<>"]/g, (letter) => ENTITIES[letter]);
}

/** Attributes; those that are null are left out. */
export type Attributes = Record<string, string | number | null>;

/** An element whose children are markup already. */
export function markup(name: string, attributes: Attributes = {}, children = ""): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== null)
    .map(
      ([key, value]) =>
        ` ${key}="${typeof value === "number" ? short(value) : escaped(String(value))}"`,
    )
    .join("");
  return children === "" ? `<${name}${written}/>` : `<${name}${written}>${children}</${name}>`;
}

/** A number with as many digits as a picture needs; small ones keep three that count. */
export function short(value: number): string {
  const rounded = Math.abs(value) < 0.1 ? value.toPrecision(3) : value.toFixed(2);
  return String(Number(rounded));
}

/** A part of one, left out where it is all. */
export function part(value: number): number | null {
  return value >= 0.999 ? null : value;
}
