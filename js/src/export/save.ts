/** Saves the view as shown: as SVG, or as PNG rendered from it. */

import { PALETTES } from "../draw/colors";
import { pixelRatio, withPixelRatio } from "../draw/pixelRatio";
import type { Shade } from "../draw/theme";
import { escapeXml, markup, shortNumber } from "../draw/xml";
import type { Pane } from "../state/pane";
import type { Store } from "../state/store";
import type { Focus } from "../wire/types";
import type { Description } from "../words/describe";
import { fontsAfter } from "./color";
import { grow, rectOf } from "./geometry";
import { pngOf } from "./raster";
import { type Vectors, type Walk, walk } from "./walk";

export type Format = "svg" | "png";

/** Saves the view, and returns a message. */
export type Save = (format: Format) => Promise<string>;

/** The views on the page, as far as saving needs them. */
export interface DrawnViews {
  node: HTMLElement;
  frames: { view: { vectors?(): Vectors } }[];
  draw(panes: Pane[], shade: Shade): boolean;
  highlight(focus: Focus | null): void;
  describe(focus: Focus | null): Description[];
}

/** What is on the page. */
export interface Page {
  root: HTMLElement;
  store: Store;
  gallery: DrawnViews;
  panes(): Pane[];
}

export interface Figure {
  svg: string;
  width: number;
  height: number;
}

/** The margin around the figure, in pixels. */
const MARGIN = 10;

/** The pixel ratio for canvases in a file, and the most pixels a canvas may have. */
const FINE = 3;
const MAX_PIXELS = 30e6;

/** CSS pixels per centimeter. */
const PER_CM = 96 / 2.54;

/** How long a file stays available to a host that fetches it late, in milliseconds. */
const AVAILABLE = 60_000;

/** A browser does not report a blocked download. */
const SANDBOXED =
  " (if no file was downloaded, this frame blocks downloads: open the view in its own page)";

export function saverFor(page: Page): Save {
  return async (format) => {
    return deliver(figureOf(page), format, fileName(page.store), page.root);
  };
}

/** Download a figure as a file, and return a message. */
export async function deliver(
  figure: Figure,
  format: Format,
  name: string,
  root: HTMLElement,
): Promise<string> {
  const type = "image/svg+xml;charset=utf-8";
  const file = format === "svg" ? new Blob([figure.svg], { type }) : await pngOf(figure);
  download(file, `${name}.${format}`, root);
  return `saved${isSandboxed() ? SANDBOXED : ""}`;
}

/** The figure of what is shown now, in light colors whatever the theme. */
export function figureOf(page: Page): Figure {
  const { root, gallery, store } = page;
  if (gallery.node.clientWidth === 0) throw new Error("There is nothing to save yet.");
  const seen = drawOnPaper(page, () => {
    const vectors: Vectors = new Map(
      gallery.frames.flatMap(({ view }) => [...(view.vectors?.() ?? [])]),
    );
    return walk(gallery.node, vectors, PALETTES.light.paper);
  });
  const fonts = fontsAfter(getComputedStyle(root).fontFamily);
  const [{ sentence }] = gallery.describe(store.focus);
  return assembleFigure(seen, { fonts, title: titleOf(store), sentence });
}

/** Draw everything in light colors and high resolution, read it, and restore the screen. */
function drawOnPaper<T>({ root, gallery, panes, store }: Page, read: () => T): T {
  const shade = root.dataset.shade as Shade;
  const restoreScrolls = scrollsIn(gallery.node);
  const draw = (drawnShade: Shade): boolean => {
    root.dataset.shade = drawnShade;
    const isLoaded = gallery.draw(panes(), drawnShade);
    if (isLoaded) gallery.highlight(store.focus);
    for (const restore of restoreScrolls) restore();
    return isLoaded;
  };
  // Vectors in light colors need not be drawn again.
  const isReady = shade === "light" && gallery.frames.every(({ view }) => view.vectors);
  root.style.minHeight = `${root.offsetHeight}px`; // a shorter page would scroll
  root.classList.add("nv-still");
  try {
    return withPixelRatio(finestRatio(gallery.node), () => {
      const isLoaded = isReady ? !gallery.node.matches(".nv-stale") : draw("light");
      if (!isLoaded) throw new Error("The numbers are still loading. Try again.");
      return read();
    });
  } finally {
    if (!isReady) draw(shade);
    root.classList.remove("nv-still");
    root.style.minHeight = "";
  }
}

function finestRatio(node: Element): number {
  const areas = [...node.querySelectorAll("canvas")].map(
    ({ clientWidth, clientHeight }) => clientWidth * clientHeight,
  );
  return Math.max(pixelRatio(), Math.min(FINE, Math.sqrt(MAX_PIXELS / Math.max(1, ...areas))));
}

/** Functions that restore the present scroll positions and repaint there. */
function scrollsIn(node: Element): (() => void)[] {
  const scrollable = [...node.querySelectorAll("*")].filter(
    ({ scrollHeight, clientHeight, scrollWidth, clientWidth }) =>
      scrollHeight > clientHeight + 1 || scrollWidth > clientWidth + 1,
  );
  return scrollable.map((element) => {
    const { scrollTop: top, scrollLeft: left } = element;
    return () => {
      if (element.scrollTop === top && element.scrollLeft === left) return;
      element.scrollTo({ top, left, behavior: "instant" });
      element.dispatchEvent(new Event("scroll")); // the browser's own event would come too late
    };
  });
}

/** The figure as a complete SVG file. */
export function assembleFigure(
  { markup: marks, extent, isPartial }: Walk,
  { fonts, title, sentence }: { fonts: string; title: string; sentence: string },
): Figure {
  if (!extent) throw new Error("There is nothing to save.");
  const box = grow(extent, MARGIN);
  if (isPartial) box.bottom += 16;
  const { x, y, width, height } = rectOf(box);
  const cm = (pixels: number) => `${shortNumber(pixels / PER_CM)}cm`;
  const size = { width: cm(width), height: cm(height) };
  const spaces = {
    xmlns: "http://www.w3.org/2000/svg",
    "xmlns:xlink": "http://www.w3.org/1999/xlink",
  };
  const viewBox = [x, y, width, height].map(shortNumber).join(" ");
  const note = { x: extent.left, y: extent.bottom + 14, "font-size": 11, fill: "#59636d" };
  const inside = [
    markup("title", {}, escapeXml(title)),
    markup("desc", {}, escapeXml(sentence)),
    markup("rect", { ...rectOf(box), fill: PALETTES.light.paper }),
    marks,
    isPartial ? markup("text", note, "Partial: the view continues beyond the visible part.") : "",
  ];
  const root = { ...spaces, ...size, viewBox, "font-family": fonts };
  return { svg: `${markup("svg", root, `\n${inside.join("\n")}\n`)}\n`, width, height };
}

function titleOf({ flow, state, measure }: Store): string {
  return `${flow.model}, layer ${state.value.layer}, ${measure.label}`;
}

export function fileName({ flow, state }: Store): string {
  const { layer, measure } = state.value;
  return safeName([flow.model, `layer${layer}`, measure]);
}

/** A file name that is valid everywhere: letters, digits, dots and hyphens. */
export function safeName(words: string[]): string {
  const safe = (text: string) =>
    text
      .replace(/[^A-Za-z0-9.]+/g, "-")
      .replace(/^[-.]+|[-.]+$/g, "")
      .slice(0, 60);
  const parts = ["normviz", ...words.map(safe)];
  return parts.filter((text) => text !== "").join("-");
}

/** Whether the page is in a sandboxed frame. */
function isSandboxed(): boolean {
  return window.origin === "null" && window.parent !== window;
}

function download(file: Blob, name: string, root: HTMLElement): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.hidden = true;
  root.append(link); // some hosts notice only links that are on the page
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), AVAILABLE);
}
