/** The words of two texts as a heatmap: shares as colors, links as frames, gold as squares. */

import { formatPercent, type Palette } from "../../draw/colors";
import { element } from "../../draw/dom";
import { heatOf } from "../../draw/heat";
import { pixelRatio } from "../../draw/pixelRatio";
import { svg } from "../../draw/svg";
import { type CellField, cellAt, fieldFor, fontFor, sizeOf, WHOLE } from "../../draw/viewport";
import { maxOf } from "../../math/arrays";
import type { Focus } from "../../wire/types";
import { quote } from "../../words/describe";
import { axisView, lengthOf } from "../shared/axes";
import type { Edge } from "../shared/cells";
import { blockOf, imageOf, paintAim, paintField } from "../shared/heatmap";
import { prepareCanvas } from "../shared/paint";
import { momentsOf } from "../shared/time";
import type { ViewActions } from "../view";
import { shareOf, specialShareOf } from "./data";
import type { Mark } from "./gold";
import { type Aligned, pairLine, spanOf, type WordPosition } from "./words";

/** The height that a field should fill; more for many words. */
const HEIGHT = { least: 460, most: 720, line: 12 };
const LABEL = { least: 40, most: 104, share: 0.24 };
const LINE = 15;
/** The space above the field for a time axis. */
const TIMES = 22;
const TICK = 24;

interface Scene {
  aligned: Aligned;
  palette: Palette;
  room: CellField;
  down: Edge;
  across: Edge;
}

export function wordField(actions: ViewActions, signal: AbortSignal) {
  let scene: Scene | null = null;
  let cell: { row: number; column: number } | null = null;
  const elements = buildElements(actions, signal);
  const { plot, sight } = elements;
  const under = ({ clientX, clientY }: MouseEvent) => {
    const { left, top } = plot.getBoundingClientRect();
    return scene && cellAt(WHOLE, scene.room, clientX - left, clientY - top);
  };
  const look = (now: typeof cell): void => {
    cell = now;
    sight.textContent = scene && cell ? cellLine(scene, cell) : "";
    actions.hover(scene && cell ? focusAt(scene, cell) : null);
  };
  const clicked = (event: MouseEvent): void => {
    const at = under(event);
    if (scene && at) actions.pin(focusAt(scene, at));
  };
  plot.addEventListener("pointermove", (event) => look(under(event)), { signal });
  plot.addEventListener("pointerleave", () => look(null), { signal });
  plot.addEventListener("click", clicked, { signal });
  return {
    node: elements.node,
    show: (aligned: Aligned, palette: Palette, width: number): void => {
      scene = arrange(elements, aligned, palette, width);
      cell = null;
      paint(elements, scene);
    },
    mark: (at: WordPosition | null): void => {
      if (scene) aim(elements, scene, at, cell?.column ?? null);
    },
  };
}

function buildElements(actions: ViewActions, signal: AbortSignal) {
  const base = element("canvas", { class: "nv-base", role: "img" });
  const top = element("canvas", { class: "nv-top", "aria-hidden": "true" });
  const marks = svg("svg", { class: "nv-golden", "aria-hidden": "true" });
  const plot = element("div", { class: "nv-plot" }, base, top);
  plot.append(marks);
  const [down, across] = [axisView("down", actions, signal), axisView("across", actions, signal)];
  const times = element("div", { class: "nv-axis nv-key nv-times", "aria-hidden": "true" });
  const corner = element("div", { class: "nv-corner", "aria-hidden": "true" });
  const cells = element("div", { class: "nv-cells" }, corner, across.node, times, down.node, plot);
  const sight = element("output", { class: "nv-sight", "aria-live": "off" });
  const node = element("div", { class: "nv-matrix nv-wordfield" }, cells, sight);
  return { node, base, top, marks, plot, down, across, times, corner, sight };
}

type Elements = ReturnType<typeof buildElements>;

/** The source words along the top, followed by one column for all special tokens. */
function edges({ alignment }: Aligned): { down: Edge; across: Edge } {
  const { source, special, target } = alignment;
  const names = [...new Set(special.map(({ label }) => label))];
  const none = special.length > 0 ? [names.length === 1 ? names[0] : "no word"] : [];
  const across = source.map(({ label }) => label);
  return {
    down: {
      labels: target.map(({ label }) => label),
      special: target.map(() => false),
      role: "query",
      pieces: target.map(({ pieces }) => pieces),
    },
    across: {
      labels: [...across, ...none],
      special: [...across.map(() => false), ...none.map(() => true)],
      role: "key",
      pieces: [
        ...source.map(({ pieces }) => pieces),
        ...none.map(() => special.flatMap(({ pieces }) => pieces)),
      ],
    },
  };
}

function arrange(elements: Elements, aligned: Aligned, palette: Palette, width: number): Scene {
  const { down, across } = edges(aligned);
  const [rows, columns] = [down.labels.length, across.labels.length];
  const bound = Math.min(LABEL.most, width * LABEL.share);
  const height = Math.min(HEIGHT.most, Math.max(HEIGHT.least, rows * HEIGHT.line));
  const rough = fieldFor(rows, columns, width - bound - 2, height);
  const letters = (pitch: number) => fontFor(Math.max(LINE, pitch));
  const left = lengthOf(down, letters(rough.tall), LABEL.least, bound);
  const top = aligned.clock
    ? TIMES
    : lengthOf(across, letters(rough.wide), LABEL.least, LABEL.most);
  const room = fieldFor(rows, columns, width - left - 2, height);
  const size = sizeOf(room);
  for (const [name, value] of Object.entries({ left, top, wide: size.width, tall: size.height })) {
    elements.node.style.setProperty(`--nv-${name}`, `${value}px`);
  }
  elements.across.node.hidden = aligned.clock !== null;
  elements.times.hidden = aligned.clock === null;
  elements.times.replaceChildren(...moments(aligned, room));
  return { aligned, palette, room, down, across };
}

/** Labels at round seconds. */
function moments({ clock, alignment }: Aligned, { wide, columns }: CellField): HTMLElement[] {
  if (!clock) return [];
  const count = Math.max(2, (wide * columns) / 90);
  return momentsOf(clock, alignment.source.length, count)
    .filter(({ at }) => at <= columns - TICK / wide)
    .map(({ text, at }) => {
      const label = element("span", {}, text);
      label.style.left = `${at * wide}px`;
      return label;
    });
}

/** The share in each cell [row column]; the last column is for all special tokens. */
function sharesIn({ alignment }: Aligned): Float32Array {
  const { source, special, target } = alignment;
  return Float32Array.from(
    target.flatMap((_, at) => [
      ...source.map((_, column) => shareOf(alignment, at, column)),
      ...(special.length > 0 ? [specialShareOf(alignment, at)] : []),
    ]),
  );
}

function paint(elements: Elements, scene: Scene): void {
  const { room, palette, aligned } = scene;
  const { width, height } = sizeOf(room);
  const shares = sharesIn(aligned);
  const full = maxOf(shares) || 1;
  const block = blockOf(room, WHOLE, pixelRatio());
  const depths = shares.map((share) => (share > 0 ? share / full : Number.NaN));
  const image = imageOf(depths, room.columns, block, heatOf(aligned.alignment.measure, palette));
  const context = prepareCanvas(elements.base, width, height);
  elements.base.setAttribute("aria-label", `${aligned.alignment.measure.label} between words`);
  if (context && image) paintField(context, image, block, room, WHOLE, palette);
  elements.marks.setAttribute("width", String(width));
  elements.marks.setAttribute("height", String(height));
  elements.marks.replaceChildren(
    ...aligned.marks.flatMap((mark) => markIn(scene, mark)),
    ...unlinkedFrames(scene),
  );
}

/** A frame around a link; a square for the gold alignment, filled if sure. */
function markIn({ aligned, room }: Scene, mark: Mark): SVGElement[] {
  const { source, target, isLinked, gold, verdict } = mark;
  const { wide, tall } = room;
  const about = { "data-source": source, "data-target": target };
  const span = aligned.clock ? spanOf(aligned.alignment, target, source) : null;
  const [from, to] = span ? [span.from, span.to] : [source, source + 1];
  const line = Math.min(wide, tall) < 9 ? 1.2 : 2;
  const frame = isLinked
    ? [box("nv-frame", verdict, from * wide, target * tall, (to - from) * wide, tall, line / 2)]
    : [];
  const size = Math.max(3, Math.min(11, 0.44 * Math.min(wide, tall)));
  const [x, y] = [(source + 0.5) * wide - size / 2, (target + 0.5) * tall - size / 2];
  const square = gold ? [box(`nv-${gold}`, verdict, x, y, size, size, 0)] : [];
  for (const mark of [...frame, ...square]) {
    for (const [name, value] of Object.entries(about)) mark.setAttribute(name, String(value));
  }
  for (const mark of frame) mark.style.strokeWidth = `${line}px`;
  return [...frame, ...square];
}

/** Frames around special tokens from which a word takes most: it has no link. */
function unlinkedFrames({ aligned: { alignment }, room }: Scene): SVGElement[] {
  const { best, source } = alignment;
  return best.flatMap((column, target) =>
    column !== null && column >= source.length
      ? [
          box(
            "nv-frame",
            "none",
            source.length * room.wide,
            target * room.tall,
            room.wide,
            room.tall,
            1,
          ),
        ]
      : [],
  );
}

function box(
  kind: string,
  verdict: string,
  x: number,
  y: number,
  width: number,
  height: number,
  inset: number,
): SVGElement {
  return svg("rect", {
    ...{ class: `${kind} nv-${verdict}`, x: x + inset, y: y + inset },
    ...{ width: Math.max(2, width - 2 * inset), height: Math.max(2, height - 2 * inset), rx: 1 },
  });
}

/** A cell in a line, as in the readout. */
function cellLine({ aligned, across }: Scene, { row, column }: { row: number; column: number }) {
  const { alignment } = aligned;
  if (column < alignment.source.length) return pairLine(aligned, row, column);
  const [word, none] = [alignment.target[row].label, across.labels[column]].map(quote);
  const share = formatPercent(specialShareOf(alignment, row));
  return `${word} ← ${none}: ${share} of what ${word} takes; not a word, so no link`;
}

function focusAt({ aligned }: Scene, { row }: { row: number }): Focus {
  return { role: "query", token: aligned.alignment.target[row].pieces[0] };
}

/** Highlight a row or a column, on the field and its axes. */
function aim(elements: Elements, scene: Scene, at: WordPosition | null, met: number | null): void {
  const { room, palette, aligned, down, across } = scene;
  const { width, height } = sizeOf(room);
  const { source } = aligned.alignment;
  const row = at?.role === "query" ? at.word : null;
  const own = at?.role === "key" ? Math.min(at.word, source.length) : null;
  const context = prepareCanvas(elements.top, width, height);
  if (context)
    paintAim(context, { row, column: own ?? (row === null ? null : met) }, room, WHOLE, palette);
  const sight = (seen: number, pitch: number) => ({
    first: 0,
    seen,
    pitch,
    letters: fontFor(Math.max(LINE, pitch)),
  });
  elements.down.show(down, { ...sight(room.rows, room.tall), own: row, met: null });
  elements.across.show(across, {
    ...sight(room.columns, room.wide),
    own,
    met: row === null ? null : met,
  });
  for (const mark of elements.marks.querySelectorAll<SVGElement>("[data-target]")) {
    const isOwn =
      row === null ? mark.dataset.source === String(own) : mark.dataset.target === String(row);
    mark.classList.toggle("nv-dim", at !== null && !isOwn);
  }
}

/** The value of the deepest color. */
export function maxShare(aligned: Aligned): number {
  return maxOf(sharesIn(aligned));
}
