/** Colors and fonts as the page has computed them, in words that every reader of SVG knows. */

export interface Ink {
  /** As #rrggbb. */
  color: string;
  alpha: number;
}

/** A computed color; null where nothing would be seen. */
export function inkOf(computed: string): Ink | null {
  const found = /^(rgba?|color)\(([^)]*)\)/.exec(computed);
  if (!found) return null;
  const numbers = found[2].match(/-?[\d.]+(e-?\d+)?%?/g)?.map(numberIn) ?? [];
  const scale = found[1] === "color" ? 255 : 1;
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

/** Every color that a longer value names, in its order. */
export function inksIn(computed: string): Ink[] {
  const all = computed.match(/(rgba?|color)\([^)]*\)/g) ?? [];
  return all.map(inkOf).filter((ink) => ink !== null);
}

/** Fonts that are found where the page's own are not. */
const COMMON = ["Helvetica", "Arial", "DejaVu Sans", "sans-serif"];

/** The page's fonts, and after them common ones, down to any without serifs. */
export function fontsAfter(computed: string): string {
  const own = computed
    .split(",")
    .map((name) => name.trim().replace(/^["']|["']$/g, ""))
    .filter((name) => name !== "" && !COMMON.includes(name));
  const quote = (name: string) => (/^[\w-]+$/.test(name) ? name : `'${name.replace(/'/g, "")}'`);
  return [...own, ...COMMON].map(quote).join(", ");
}
