/** Computed colors and fonts, in a form that every SVG viewer understands. */

export interface Ink {
  /** As #rrggbb. */
  color: string;
  alpha: number;
}

/** A computed color; null if it is invisible. */
export function inkOf(computed: string): Ink | null {
  const match = /^(rgba?|color)\(([^)]*)\)/.exec(computed);
  if (!match) return null;
  const numbers = match[2].match(/-?[\d.]+(e-?\d+)?%?/g)?.map(numberIn) ?? [];
  const scale = match[1] === "color" ? 255 : 1;
  const [red, green, blue, alpha = 1] = numbers;
  if (numbers.length < 3 || alpha === 0) return null;
  return { color: hex([red, green, blue].map((channel) => channel * scale)), alpha };
}

function numberIn(text: string): number {
  return text.endsWith("%") ? Number.parseFloat(text) / 100 : Number(text);
}

function hex(channels: number[]): string {
  const pairs = channels.map((channel) => {
    const bounded = Math.min(255, Math.max(0, Math.round(channel)));
    return bounded.toString(16).padStart(2, "0");
  });
  return `#${pairs.join("")}`;
}

/** All colors in a CSS value, in order. */
export function inksIn(computed: string): Ink[] {
  const all = computed.match(/(rgba?|color)\([^)]*\)/g) ?? [];
  return all.map(inkOf).filter((ink) => ink !== null);
}

/** Common fallback fonts. */
const COMMON = ["Helvetica", "Arial", "DejaVu Sans", "sans-serif"];

/** The page's fonts, followed by common ones. */
export function fontsAfter(computed: string): string {
  const own = computed
    .split(",")
    .map((name) => name.trim().replace(/^["']|["']$/g, ""))
    .filter((name) => name !== "" && !COMMON.includes(name));
  const quote = (name: string) => (/^[\w-]+$/.test(name) ? name : `'${name.replace(/'/g, "")}'`);
  return [...own, ...COMMON].map(quote).join(", ");
}
