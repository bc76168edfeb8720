/** The grid view: thumbnails of every layer and head; a click opens one. */

import type { Palette } from "../../draw/colors";
import { element, fillOptions, picker } from "../../draw/dom";
import { heatOf } from "../../draw/heat";
import { pixelRatio } from "../../draw/pixelRatio";
import type { Pane } from "../../state/pane";
import type { Focus, ViewState } from "../../wire/types";
import { prepareCanvas } from "../shared/paint";
import type { View, ViewActions } from "../view";
import { agreementAt, missingColorNotes } from "./agreementWords";
import { createBoard, type ShownBoard } from "./board";
import { ColoringWorker, strength, washColors } from "./coloring";
import {
  type Board,
  boardFor,
  cornerOf,
  outsideBand,
  pixelsOf,
  RIM,
  THIN_ROW,
  tileOf,
} from "./layout";
import { bandOf, sortByDisagreement, type Thumb, type Thumbs, thumbsOf } from "./thumbs";
import { describeThumbs, thumbLegend } from "./words";

/** The opacity of the cover over everything out of focus. */
const VEIL = 0.8;

/** The space for outlines and a scroll bar. */
const MARGIN = 22;

/** What is on the board, and its pane. */
interface Drawn extends ShownBoard {
  pane: Pane;
  palette: Palette;
}

export function gridView(actions: ViewActions, signal: AbortSignal): View {
  let now: Drawn | null = null;
  let pointed: Thumb | null = null;
  let veiled = "";
  const order = trackOrder();
  const point = (thumb: Thumb | null): void => {
    if (thumb === pointed) return;
    pointed = thumb;
    actions.refresh?.();
  };
  const colors = new ColoringWorker(signal);
  const open = (thumb: Thumb) =>
    actions.choose(stateFor(requireThumbs(now), thumb, now?.pane.state));
  const sort = (id: string): void => {
    order.set(id || null);
    if (now) draw(now.pane, now.palette);
    actions.refresh?.();
  };
  const elements = buildElements(
    createBoard({ point, open }, signal),
    picker("order", sort, signal),
  );

  const draw = (pane: Pane, palette: Palette): boolean => {
    const sortBy = order.of(pane.state);
    const coloring = colors.of(pane);
    const thumbs = thumbsOf(pane, [sortBy, pane.state.compare], coloring);
    if (!thumbs) return false;
    const was = pointed;
    const isSorted = sortBy !== null && thumbs.compared?.id === sortBy;
    now = arrange(elements, { pane, palette, thumbs, isSorted });
    pointed = was && (now.order.find((thumb) => isSameThumb(thumb, was)) ?? null);
    show(elements, now);
    veiled = "";
    return coloring?.isWhole ?? true;
  };
  const highlight = (focus: Focus | null): void => {
    const key = JSON.stringify(focus);
    if (now && key !== veiled) dimOthers(elements, now, focus);
    veiled = key;
  };
  return {
    node: elements.node,
    draw,
    highlight,
    legend: () => (now ? legendOf(now, parseFocus(veiled)) : []),
    describe: (focus) => describeThumbs(requireThumbs(now), focus, pointed),
  };
}

/** The order chosen by the reader, until something else is compared. */
function trackOrder() {
  let asked: string | null = null;
  let since = "";
  return {
    set: (id: string | null): void => {
      asked = id;
    },
    /** The measure to sort by; null for the model's order. */
    of: ({ compare, color_by }: ViewState): string | null => {
      const isPlain = color_by === "none";
      const now = JSON.stringify([compare, isPlain]);
      // Without colors, the order shows where two measures disagree.
      if (now !== since) asked = typeof compare === "string" && isPlain ? compare : null;
      since = now;
      return asked;
    },
  };
}

/** The state a click leads to: the head, and with colors the token where the two differ most. */
function stateFor(thumbs: Thumbs, thumb: Thumb, state?: ViewState): Partial<ViewState> {
  const { stream } = thumbs;
  const cell = agreementAt(thumbs, thumb);
  const head = thumb.head ?? (cell?.head == null ? null : stream.heads[cell.head]);
  const target = {
    view: "flow" as const,
    layer: thumb.layer,
    heads: head === null ? null : [head],
  };
  if (cell?.query == null) return target;
  const isHidden = state?.special === "hidden" && stream.queries.special[cell.query];
  const shown = isHidden ? { special: "dimmed" as const } : {};
  return { ...target, role: "query", token: cell.query, ...shown };
}

/** The legend, with a note if colors are missing. */
function legendOf({ thumbs, pane, palette }: Drawn, focus: Focus | null) {
  const phrases = thumbLegend(thumbs, pane.state, focus, palette);
  return thumbs.coloring ? phrases : [...phrases, ...missingColorNotes(pane)];
}

function parseFocus(text: string): Focus | null {
  return text === "" ? null : JSON.parse(text);
}

function requireThumbs(now: Drawn | null): Thumbs {
  if (!now) throw new Error("Nothing has been drawn yet.");
  return now.thumbs;
}

function isSameThumb(one: Thumb, other: Thumb): boolean {
  return one.layer === other.layer && one.head === other.head;
}

function buildElements(board: ReturnType<typeof createBoard>, sorter: ReturnType<typeof picker>) {
  const base = element("canvas", { class: "nv-base", "aria-hidden": "true" });
  const top = element("canvas", { class: "nv-top", "aria-hidden": "true" });
  const stage = element("div", { class: "nv-board" }, base, top, board.node);
  const scroll = element("div", { class: "nv-scroll" }, stage);
  const tools = element("div", { class: "nv-sorter" }, sorter.node);
  const node = element("div", { class: "nv-grid" }, tools, scroll);
  return { node, stage, base, top, board, sorter };
}

type Elements = ReturnType<typeof buildElements>;

function arrange(
  { node }: Elements,
  given: Pick<Drawn, "pane" | "palette" | "thumbs" | "isSorted">,
): Drawn {
  const { thumbs, isSorted, pane } = given;
  const { layer, heads } = pane.state;
  const room = { width: node.clientWidth - MARGIN, ratio: window.devicePixelRatio || 1, isSorted };
  return {
    ...given,
    order: isSorted ? sortByDisagreement(thumbs.thumbs) : thumbs.thumbs,
    board: boardFor(thumbs, room),
    isChosen: (thumb) =>
      thumb.layer === layer &&
      (heads === null || thumb.head === null || heads.includes(thumb.head)),
  };
}

/** Show the thumbnails. */
function show({ node, stage, base, board, sorter }: Elements, now: Drawn): void {
  const { thumbs, board: place, isSorted } = now;
  fillOptions(sorter.select, [
    ["", "in the model's order"],
    ...thumbs.comparable.map(({ id, label }): [string, string] => [
      id,
      `by disagreement with ${label}`,
    ]),
  ]);
  sorter.select.value = isSorted && thumbs.compared ? thumbs.compared.id : "";
  sorter.node.hidden = thumbs.comparable.length === 0;
  const lengths = { size: place.size, tall: place.tall, gutter: place.gutter };
  const { across, down } = place.pitch;
  const pitches = { across, down, heading: place.heading, thin: THIN_ROW };
  for (const [name, length] of Object.entries({ ...lengths, ...pitches })) {
    stage.style.setProperty(`--nv-${name}`, `${length}px`);
  }
  stage.classList.toggle("nv-tiled", thumbs.coloring !== null);
  stage.style.width = `${place.width}px`;
  stage.style.height = `${place.height}px`;
  board.show(now);
  const key = paintKey(now);
  if (node.clientWidth === 0 || base.dataset.painted === key) return;
  paint(base, now);
  base.dataset.painted = key;
}

/** Everything that affects the pixels; choosing a layer or a head does not. */
function paintKey({ pane, thumbs, board, isSorted, palette }: Drawn): string {
  const { measure, scale, threshold, compared, stream } = thumbs;
  const coloringKey = thumbs.coloring && [
    thumbs.coloring.by,
    compared?.id,
    thumbs.coloring.cells.size,
  ];
  const sorted = isSorted && compared?.id;
  const what = [pane.index, stream.name, measure.id, scale, threshold, sorted, coloringKey];
  return JSON.stringify([...what, board, palette.paper, pixelRatio()]);
}

function paint(base: HTMLCanvasElement, { thumbs, order, board, palette }: Drawn): void {
  const context = prepareCanvas(base, board.width, board.height);
  if (!context) throw new Error("This browser cannot draw on a canvas; the table has the numbers.");
  const ratio = base.width / board.width;
  const width = Math.round(board.size * ratio);
  const height = Math.round(board.tall * ratio);
  const color = heatOf(thumbs.measure, palette);
  paintTiles(context, thumbs, order, board, palette);
  order.forEach((thumb, at) => {
    const { x, y } = cornerOf(board, at);
    const pixels = pixelsOf(thumb, thumbs, { width, height }, color);
    const picture = new ImageData(pixels, width, height);
    context.putImageData(picture, Math.round(x * ratio), Math.round(y * ratio));
  });
}

/** Paint a colored tile under each thumbnail whose agreement is known. */
function paintTiles(
  context: CanvasRenderingContext2D,
  thumbs: Thumbs,
  order: Thumb[],
  board: Board,
  palette: Palette,
): void {
  const { coloring } = thumbs;
  if (!coloring) return;
  const color = washColors(palette);
  order.forEach((thumb, at) => {
    const value = agreementAt(thumbs, thumb)?.[coloring.by] ?? null;
    if (value === null) return;
    const { x, y, width, height } = tileOf(board, at);
    context.fillStyle = color(strength(coloring, value));
    context.beginPath();
    context.roundRect(x, y, width, height, RIM);
    context.fill();
  });
}

/** Dim everything but the row or column of the token in focus. */
function dimOthers(
  { node, top }: Elements,
  { thumbs, order, board, palette }: Drawn,
  focus: Focus | null,
) {
  const band = bandOf(thumbs, focus);
  const context = node.clientWidth > 0 ? prepareCanvas(top, board.width, board.height) : null;
  if (!context || !band) return;
  context.fillStyle = palette.paper;
  context.globalAlpha = VEIL;
  order.forEach((_, at) => {
    const { x, y } = cornerOf(board, at);
    for (const [left, above, width, height] of outsideBand(band, thumbs, board)) {
      context.fillRect(x + left, y + above, width, height);
    }
  });
  context.globalAlpha = 1;
}
