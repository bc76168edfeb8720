/** Every layer and head in small; a click opens one. */

import type { Palette } from "../../draw/colors";
import { element, options, picker } from "../../draw/dom";
import { heatOf } from "../../draw/heat";
import { density } from "../../draw/pixelRatio";
import type { Pane } from "../../state/pane";
import type { Choice, Focus } from "../../wire/types";
import { sheet } from "../shared/paint";
import type { Hand, View } from "../view";
import { cellAt, uncolored } from "./agreementWords";
import { cells, type Shown } from "./board";
import { Colors, strength, wash } from "./coloring";
import { type Board, besides, boardFor, cornerOf, pixelsOf, RIM, tileOf } from "./layout";
import { bandOf, byDisagreement, type Thumb, type Thumbs, thumbsOf } from "./thumbs";
import { describeThumbs, thumbLegend } from "./words";

/** How much of the paper lies over what is not in focus. */
const VEIL = 0.8;

/** What the board leaves free for outlines and for a scroll bar. */
const MARGIN = 22;

/** What is on the board, and the choice it came from. */
interface Drawn extends Shown {
  pane: Pane;
  palette: Palette;
}

export function gridView(hand: Hand, signal: AbortSignal): View {
  let now: Drawn | null = null;
  let pointed: Thumb | null = null;
  let veiled = "";
  const order = orderOf();
  const point = (thumb: Thumb | null): void => {
    if (thumb === pointed) return;
    pointed = thumb;
    hand.tell?.();
  };
  const colors = new Colors(signal);
  const open = (thumb: Thumb) => hand.choose(opened(thumbsIn(now), thumb, now?.pane.choice));
  const sort = (id: string): void => {
    order.set(id || null);
    if (now) draw(now.pane, now.palette);
    hand.tell?.();
  };
  const parts = build(cells({ point, open }, signal), picker("order", sort, signal));

  const draw = (pane: Pane, palette: Palette): boolean => {
    const wanted = order.wanted(pane.choice);
    const coloring = colors.of(pane);
    const thumbs = thumbsOf(pane, [wanted, pane.choice.compare], coloring);
    if (!thumbs) return false;
    const was = pointed;
    const isSorted = wanted !== null && thumbs.rival?.id === wanted;
    now = arranged(parts, { pane, palette, thumbs, isSorted });
    pointed = was && (now.order.find((thumb) => same(thumb, was)) ?? null);
    show(parts, now);
    veiled = "";
    return coloring?.isWhole ?? true;
  };
  const highlight = (focus: Focus | null): void => {
    const wanted = JSON.stringify(focus);
    if (now && wanted !== veiled) veil(parts, now, focus);
    veiled = wanted;
  };
  return {
    node: parts.node,
    draw,
    highlight,
    legend: () => (now ? legendOf(now, focusIn(veiled)) : []),
    describe: (focus) => describeThumbs(thumbsIn(now), focus, pointed),
  };
}

/** The order a reader asked for, until something else is compared. */
function orderOf() {
  let asked: string | null = null;
  let since = "";
  return {
    set: (id: string | null): void => {
      asked = id;
    },
    /** The measure to sort by; null for the model's order. */
    wanted: ({ compare, color }: Choice): string | null => {
      const isPlain = color === "none";
      const now = JSON.stringify([compare, isPlain]);
      // Colors show where two measures disagree; without them the order does.
      if (now !== since) asked = typeof compare === "string" && isPlain ? compare : null;
      since = now;
      return asked;
    },
  };
}

/** What a click leads to: the head, and with colors the token where the two differ most. */
function opened(thumbs: Thumbs, thumb: Thumb, choice?: Choice): Partial<Choice> {
  const { stream } = thumbs;
  const cell = cellAt(thumbs, thumb);
  const head = thumb.head ?? (cell?.head == null ? null : stream.heads[cell.head]);
  const found = { view: "flow" as const, layer: thumb.layer, heads: head === null ? null : [head] };
  if (cell?.query == null) return found;
  const isHidden = choice?.special === "hidden" && stream.queries.special[cell.query];
  const shown = isHidden ? { special: "dimmed" as const } : {};
  return { ...found, side: "query", token: cell.query, ...shown };
}

/** What is shown, and what is not although it was asked for. */
function legendOf({ thumbs, pane, palette }: Drawn, focus: Focus | null) {
  const phrases = thumbLegend(thumbs, pane.choice, focus, palette);
  return thumbs.coloring ? phrases : [...phrases, ...uncolored(pane)];
}

function focusIn(text: string): Focus | null {
  return text === "" ? null : JSON.parse(text);
}

function thumbsIn(now: Drawn | null): Thumbs {
  if (!now) throw new Error("Nothing has been drawn yet.");
  return now.thumbs;
}

function same(one: Thumb, other: Thumb): boolean {
  return one.layer === other.layer && one.head === other.head;
}

function build(board: ReturnType<typeof cells>, sorter: ReturnType<typeof picker>) {
  const base = element("canvas", { class: "nv-base", "aria-hidden": "true" });
  const top = element("canvas", { class: "nv-top", "aria-hidden": "true" });
  const stage = element("div", { class: "nv-board" }, base, top, board.node);
  const scroll = element("div", { class: "nv-scroll" }, stage);
  const tools = element("div", { class: "nv-sorter" }, sorter.node);
  const node = element("div", { class: "nv-grid" }, tools, scroll);
  return { node, stage, base, top, board, sorter };
}

type Parts = ReturnType<typeof build>;

function arranged(
  { node }: Parts,
  given: Pick<Drawn, "pane" | "palette" | "thumbs" | "isSorted">,
): Drawn {
  const { thumbs, isSorted, pane } = given;
  const { layer, heads } = pane.choice;
  const room = { width: node.clientWidth - MARGIN, ratio: window.devicePixelRatio || 1, isSorted };
  return {
    ...given,
    order: isSorted ? byDisagreement(thumbs.thumbs) : thumbs.thumbs,
    board: boardFor(thumbs, room),
    isChosen: (thumb) =>
      thumb.layer === layer &&
      (heads === null || thumb.head === null || heads.includes(thumb.head)),
  };
}

/** Put the pictures on the page. */
function show({ node, stage, base, board, sorter }: Parts, now: Drawn): void {
  const { thumbs, board: place, isSorted } = now;
  options(sorter.select, [
    ["", "in the model's order"],
    ...thumbs.rivals.map(({ id, label }): [string, string] => [
      id,
      `by disagreement with ${label}`,
    ]),
  ]);
  sorter.select.value = isSorted && thumbs.rival ? thumbs.rival.id : "";
  sorter.node.hidden = thumbs.rivals.length === 0;
  const lengths = { size: place.size, tall: place.tall, gutter: place.gutter };
  const pitches = { across: place.pitch.across, down: place.pitch.down, heading: place.heading };
  for (const [name, length] of Object.entries({ ...lengths, ...pitches })) {
    stage.style.setProperty(`--nv-${name}`, `${length}px`);
  }
  stage.classList.toggle("nv-tiled", thumbs.coloring !== null);
  stage.style.width = `${place.width}px`;
  stage.style.height = `${place.height}px`;
  board.show(now);
  const wanted = paintedBy(now);
  if (node.clientWidth === 0 || base.dataset.painted === wanted) return;
  paint(base, now);
  base.dataset.painted = wanted;
}

/** Everything that changes the pixels; choosing a layer or a head does not. */
function paintedBy({ pane, thumbs, board, isSorted, palette }: Drawn): string {
  const { measure, scale, threshold, rival, stream } = thumbs;
  const told = thumbs.coloring && [thumbs.coloring.by, rival?.id, thumbs.coloring.cells.size];
  const sorted = isSorted && rival?.id;
  const what = [pane.index, stream.name, measure.id, scale, threshold, sorted, told];
  return JSON.stringify([...what, board, palette.paper, density()]);
}

function paint(base: HTMLCanvasElement, { thumbs, order, board, palette }: Drawn): void {
  const context = sheet(base, board.width, board.height);
  if (!context) throw new Error("This browser refuses to draw on a canvas; the table still holds.");
  const ratio = base.width / board.width;
  const width = Math.round(board.size * ratio);
  const height = Math.round(board.tall * ratio);
  const color = heatOf(thumbs.measure, palette);
  lay(context, thumbs, order, board, palette);
  order.forEach((thumb, at) => {
    const { x, y } = cornerOf(board, at);
    const pixels = pixelsOf(thumb, thumbs, { width, height }, color);
    const picture = new ImageData(pixels, width, height);
    context.putImageData(picture, Math.round(x * ratio), Math.round(y * ratio));
  });
}

/** Lay a colored tile under each picture whose agreement is known. */
function lay(
  context: CanvasRenderingContext2D,
  thumbs: Thumbs,
  order: Thumb[],
  board: Board,
  palette: Palette,
): void {
  const { coloring } = thumbs;
  if (!coloring) return;
  const color = wash(palette);
  order.forEach((thumb, at) => {
    const value = cellAt(thumbs, thumb)?.[coloring.by] ?? null;
    if (value === null) return;
    const { x, y, width, height } = tileOf(board, at);
    context.fillStyle = color(strength(coloring, value));
    context.beginPath();
    context.roundRect(x, y, width, height, RIM);
    context.fill();
  });
}

/** Dim everything but the row or column of the token in focus. */
function veil({ node, top }: Parts, { thumbs, order, board, palette }: Drawn, focus: Focus | null) {
  const band = bandOf(thumbs, focus);
  const context = node.clientWidth > 0 ? sheet(top, board.width, board.height) : null;
  if (!context || !band) return;
  context.fillStyle = palette.paper;
  context.globalAlpha = VEIL;
  order.forEach((_, at) => {
    const { x, y } = cornerOf(board, at);
    for (const [left, above, width, height] of besides(band, thumbs, board)) {
      context.fillRect(x + left, y + above, width, height);
    }
  });
  context.globalAlpha = 1;
}
