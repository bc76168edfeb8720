/** XML as text, with everything escaped. */

/** Characters that XML forbids: most control characters, lone surrogates and two noncharacters. */
const FORBIDDEN = /[^\P{Cc}\t\n\r\x7f-\x9f]|\p{Surrogate}|[\ufffe\uffff]/gu;

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** A text with XML escapes. */
export function escapeXml(text: string): string {
  return text.replace(FORBIDDEN, "\ufffd").replace(/[&<>"]/g, (letter) => ENTITIES[letter]);
}

/** Attributes; null ones are omitted. */
export type Attributes = Record<string, string | number | null>;

/** An element with children that are already markup. */
export function markup(name: string, attributes: Attributes = {}, children = ""): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== null)
    .map(
      ([key, value]) =>
        ` ${key}="${typeof value === "number" ? shortNumber(value) : escapeXml(String(value))}"`,
    )
    .join("");
  return children === "" ? `<${name}${written}/>` : `<${name}${written}>${children}</${name}>`;
}

/** A number with two decimals, or three significant digits if it is small. */
export function shortNumber(value: number): string {
  const rounded = Math.abs(value) < 0.1 ? value.toPrecision(3) : value.toFixed(2);
  return String(Number(rounded));
}

/** An opacity, or null if it is opaque. */
export function opacityOrNull(value: number): number | null {
  return value >= 0.999 ? null : value;
}
