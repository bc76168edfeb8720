/** The picture as it is shown, as a file for a paper: SVG, or PNG made of it. */

import type { Gallery } from "../app/panes";
import { PALETTES } from "../draw/colors";
import { atDensity, density } from "../draw/pixelRatio";
import type { Shade } from "../draw/theme";
import { escaped, markup, short } from "../draw/xml";
import type { Pane } from "../state/pane";
import type { Store } from "../state/store";
import { fontsAfter } from "./color";
import { grown, placed } from "./place";
import { pngOf } from "./raster";
import { type Vectors, type Walk, walk } from "./walk";

export type Format = "svg" | "png";

/** Saves the picture, and tells how it went. */
export type Save = (format: Format) => Promise<string>;

/** What is on the page. */
export interface Shown {
  root: HTMLElement;
  store: Store;
  pictures: Gallery;
  panes(): Pane[];
}

export interface Figure {
  svg: string;
  width: number;
  height: number;
}

/** What lies around the picture, in pixels. */
const MARGIN = 10;

/** Canvases are drawn so many times finer for paper, as long as they have no more pixels. */
const FINE = 3;
const MOST = 30e6;

/** Pixels of a screen on a centimeter of paper. */
const PER_CM = 96 / 2.54;

/** How long a file stays at hand for a host that fetches it late, in milliseconds. */
const KEPT = 60_000;

/** Browsers do not say when they keep a file from a reader. */
const BOXED = " (if it has not come, this frame forbids downloads: open the view in its own page)";

export function saver(shown: Shown): Save {
  return async (format) => {
    return deliver(figureOf(shown), format, fileName(shown.store), shown.root);
  };
}

/** Give the reader a figure as a file, and say that it was given. */
export async function deliver(
  figure: Figure,
  format: Format,
  name: string,
  root: HTMLElement,
): Promise<string> {
  const type = "image/svg+xml;charset=utf-8";
  const file = format === "svg" ? new Blob([figure.svg], { type }) : await pngOf(figure);
  hand(file, `${name}.${format}`, root);
  return `saved${isBoxed() ? BOXED : ""}`;
}

/** The figure of what is shown now, on white paper whatever the screen's theme. */
export function figureOf(shown: Shown): Figure {
  const { root, pictures, store } = shown;
  if (pictures.node.clientWidth === 0) throw new Error("There is no picture to be saved yet.");
  const seen = onPaper(shown, () => {
    const vectors: Vectors = new Map(
      pictures.frames.flatMap(({ view }) => [...(view.vectors?.() ?? [])]),
    );
    return walk(pictures.node, vectors, PALETTES.light.paper);
  });
  const fonts = fontsAfter(getComputedStyle(root).fontFamily);
  const [{ sentence }] = pictures.describe(store.focus);
  return sheet(seen, { fonts, title: titleOf(store), sentence });
}

/** Draw everything in light colors and finely, look at it, and put all back before it is seen. */
function onPaper<T>({ root, pictures, panes, store }: Shown, look: () => T): T {
  const shade = root.dataset.shade as Shade;
  const scrolled = scrollsIn(pictures.node);
  const draw = (wanted: Shade): boolean => {
    root.dataset.shade = wanted;
    const isHere = pictures.draw(panes(), wanted);
    if (isHere) pictures.highlight(store.focus);
    for (const back of scrolled) back();
    return isHere;
  };
  // Marks in light colors are as good as any that could be drawn again.
  const isReady = shade === "light" && pictures.frames.every(({ view }) => view.vectors);
  root.classList.add("nv-still");
  try {
    return atDensity(finest(pictures.node), () => {
      const isHere = isReady ? !pictures.node.matches(".nv-stale") : draw("light");
      if (!isHere) throw new Error("Its numbers are on their way; press again.");
      return look();
    });
  } finally {
    if (!isReady) draw(shade);
    root.classList.remove("nv-still");
  }
}

function finest(node: Element): number {
  const areas = [...node.querySelectorAll("canvas")].map(
    ({ clientWidth, clientHeight }) => clientWidth * clientHeight,
  );
  return Math.max(density(), Math.min(FINE, Math.sqrt(MOST / Math.max(1, ...areas))));
}

/** Ways to have everything scrolled as it is now, and painted there. */
function scrollsIn(node: Element): (() => void)[] {
  const large = [...node.querySelectorAll("*")].filter(
    ({ scrollHeight, clientHeight, scrollWidth, clientWidth }) =>
      scrollHeight > clientHeight + 1 || scrollWidth > clientWidth + 1,
  );
  return large.map((element) => {
    const { scrollTop: top, scrollLeft: left } = element;
    return () => {
      if (element.scrollTop === top && element.scrollLeft === left) return;
      element.scrollTo({ top, left, behavior: "instant" });
      element.dispatchEvent(new Event("scroll")); // the browser would tell too late
    };
  });
}

/** The whole file. */
export function sheet(
  { markup: marks, extent, isPartial }: Walk,
  { fonts, title, sentence }: { fonts: string; title: string; sentence: string },
): Figure {
  if (!extent) throw new Error("There is nothing to be seen in it.");
  const box = grown(extent, MARGIN);
  if (isPartial) box.bottom += 16;
  const { x, y, width, height } = placed(box);
  const cm = (pixels: number) => `${short(pixels / PER_CM)}cm`;
  const size = { width: cm(width), height: cm(height) };
  const spaces = {
    xmlns: "http://www.w3.org/2000/svg",
    "xmlns:xlink": "http://www.w3.org/1999/xlink",
  };
  const viewBox = [x, y, width, height].map(short).join(" ");
  const said = { x: extent.left, y: extent.bottom + 14, "font-size": 11, fill: "#59636d" };
  const inside = [
    markup("title", {}, escaped(title)),
    markup("desc", {}, escaped(sentence)),
    markup("rect", { ...placed(box), fill: PALETTES.light.paper }),
    marks,
    isPartial ? markup("text", said, "A part: the picture goes on beyond what was in sight.") : "",
  ];
  const root = { ...spaces, ...size, viewBox, "font-family": fonts };
  return { svg: `${markup("svg", root, `\n${inside.join("\n")}\n`)}\n`, width, height };
}

function titleOf({ flow, choice, measure }: Store): string {
  return `${flow.model}, layer ${choice.value.layer}, ${measure.label}`;
}

export function fileName({ flow, choice }: Store): string {
  const { layer, measure } = choice.value;
  return nameOf([flow.model, `layer${layer}`, measure]);
}

/** A name that every system takes: letters, digits, dots and hyphens. */
export function nameOf(words: string[]): string {
  const safe = (text: string) =>
    text
      .replace(/[^A-Za-z0-9.]+/g, "-")
      .replace(/^[-.]+|[-.]+$/g, "")
      .slice(0, 60);
  const parts = ["normviz", ...words.map(safe)];
  return parts.filter((text) => text !== "").join("-");
}

/** Whether the page stands in a frame that keeps it apart from everything. */
function isBoxed(): boolean {
  return window.origin === "null" && window.parent !== window;
}

/** Give the reader a file. */
function hand(file: Blob, name: string, root: HTMLElement): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.hidden = true;
  root.append(link); // some hosts only hear of links that are on the page
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT);
}
