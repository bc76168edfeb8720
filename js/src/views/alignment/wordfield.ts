/** The words of two texts as a field of cells: shares as heat, links as frames, gold as squares. */

import { type Palette, percent } from "../../draw/colors";
import { element } from "../../draw/dom";
import { heat } from "../../draw/heat";
import { density } from "../../draw/pixelRatio";
import { svg } from "../../draw/svg";
import { cellAt, fontFor, type Room, roomFor, sizeOf, WHOLE } from "../../draw/viewport";
import { most } from "../../math/arrays";
import type { Focus } from "../../wire/types";
import { quoted } from "../../words/describe";
import { axisView, lengthOf } from "../shared/axes";
import type { Edge } from "../shared/cells";
import { blockOf, imageOf, paintAim, paintField } from "../shared/heatmap";
import { sheet } from "../shared/paint";
import { momentsOf } from "../shared/time";
import type { Hand } from "../view";
import { noneOf, shareOf } from "./data";
import type { Mark } from "./gold";
import { type Aligned, type At, pairLine, spanOf } from "./words";

/** The height that a field should fill; many words have more. */
const HEIGHT = { least: 460, most: 720, line: 12 };
const LABEL = { least: 40, most: 104, share: 0.24 };
const LINE = 15;
/** The room above the field for a time axis. */
const TIMES = 22;
const TICK = 24;

interface Scene {
  aligned: Aligned;
  palette: Palette;
  room: Room;
  down: Edge;
  across: Edge;
}

export function wordField(hand: Hand, signal: AbortSignal) {
  let scene: Scene | null = null;
  let cell: { row: number; column: number } | null = null;
  const parts = build(hand, signal);
  const { plot, sight } = parts;
  const under = ({ clientX, clientY }: MouseEvent) => {
    const { left, top } = plot.getBoundingClientRect();
    return scene && cellAt(WHOLE, scene.room, clientX - left, clientY - top);
  };
  const look = (now: typeof cell): void => {
    cell = now;
    sight.textContent = scene && cell ? cellLine(scene, cell) : "";
    hand.hover(scene && cell ? focusAt(scene, cell) : null);
  };
  const clicked = (event: MouseEvent): void => {
    const at = under(event);
    if (scene && at) hand.pin(focusAt(scene, at));
  };
  plot.addEventListener("pointermove", (event) => look(under(event)), { signal });
  plot.addEventListener("pointerleave", () => look(null), { signal });
  plot.addEventListener("click", clicked, { signal });
  return {
    node: parts.node,
    show: (aligned: Aligned, palette: Palette, width: number): void => {
      scene = arrange(parts, aligned, palette, width);
      cell = null;
      paint(parts, scene);
    },
    mark: (at: At | null): void => {
      if (scene) aim(parts, scene, at, cell?.column ?? null);
    },
  };
}

function build(hand: Hand, signal: AbortSignal) {
  const base = element("canvas", { class: "nv-base", role: "img" });
  const top = element("canvas", { class: "nv-top", "aria-hidden": "true" });
  const marks = svg("svg", { class: "nv-golden", "aria-hidden": "true" });
  const plot = element("div", { class: "nv-plot" }, base, top);
  plot.append(marks);
  const [down, across] = [axisView("down", hand, signal), axisView("across", hand, signal)];
  const times = element("div", { class: "nv-axis nv-key nv-times", "aria-hidden": "true" });
  const corner = element("div", { class: "nv-corner", "aria-hidden": "true" });
  const cells = element("div", { class: "nv-cells" }, corner, across.node, times, down.node, plot);
  const sight = element("output", { class: "nv-sight", "aria-live": "off" });
  const node = element("div", { class: "nv-matrix nv-wordfield" }, cells, sight);
  return { node, base, top, marks, plot, down, across, times, corner, sight };
}

type Parts = ReturnType<typeof build>;

/** The source's words along the top, and after them one column for all special tokens. */
function edges({ alignment }: Aligned): { down: Edge; across: Edge } {
  const { source, special, target } = alignment;
  const names = [...new Set(special.map(({ label }) => label))];
  const none = special.length > 0 ? [names.length === 1 ? names[0] : "no word"] : [];
  const across = source.map(({ label }) => label);
  return {
    down: {
      labels: target.map(({ label }) => label),
      special: target.map(() => false),
      side: "query",
      pieces: target.map(({ pieces }) => pieces),
    },
    across: {
      labels: [...across, ...none],
      special: [...across.map(() => false), ...none.map(() => true)],
      side: "key",
      pieces: [
        ...source.map(({ pieces }) => pieces),
        ...none.map(() => special.flatMap(({ pieces }) => pieces)),
      ],
    },
  };
}

function arrange(parts: Parts, aligned: Aligned, palette: Palette, width: number): Scene {
  const { down, across } = edges(aligned);
  const [rows, columns] = [down.labels.length, across.labels.length];
  const bound = Math.min(LABEL.most, width * LABEL.share);
  const height = Math.min(HEIGHT.most, Math.max(HEIGHT.least, rows * HEIGHT.line));
  const rough = roomFor(rows, columns, width - bound - 2, height);
  const letters = (pitch: number) => fontFor(Math.max(LINE, pitch));
  const left = lengthOf(down, letters(rough.tall), LABEL.least, bound);
  const top = aligned.clock
    ? TIMES
    : lengthOf(across, letters(rough.wide), LABEL.least, LABEL.most);
  const room = roomFor(rows, columns, width - left - 2, height);
  const size = sizeOf(room);
  for (const [name, value] of Object.entries({ left, top, wide: size.width, tall: size.height })) {
    parts.node.style.setProperty(`--nv-${name}`, `${value}px`);
  }
  parts.across.node.hidden = aligned.clock !== null;
  parts.times.hidden = aligned.clock === null;
  parts.times.replaceChildren(...moments(aligned, room));
  return { aligned, palette, room, down, across };
}

/** Round seconds, instead of a label for every moment. */
function moments({ clock, alignment }: Aligned, { wide, columns }: Room): HTMLElement[] {
  if (!clock) return [];
  const count = Math.max(2, (wide * columns) / 90);
  return momentsOf(clock, alignment.source.length, count)
    .filter(({ at }) => at <= columns - TICK / wide)
    .map(({ text, at }) => {
      const made = element("span", {}, text);
      made.style.left = `${at * wide}px`;
      return made;
    });
}

/** The share in each cell [row column]; the last column is of all special tokens. */
function sharesIn({ alignment }: Aligned): Float32Array {
  const { source, special, target } = alignment;
  return Float32Array.from(
    target.flatMap((_, at) => [
      ...source.map((_, column) => shareOf(alignment, at, column)),
      ...(special.length > 0 ? [noneOf(alignment, at)] : []),
    ]),
  );
}

function paint(parts: Parts, scene: Scene): void {
  const { room, palette, aligned } = scene;
  const { width, height } = sizeOf(room);
  const shares = sharesIn(aligned);
  const full = most(shares) || 1;
  const block = blockOf(room, WHOLE, density());
  const depths = shares.map((share) => (share > 0 ? share / full : Number.NaN));
  const image = imageOf(depths, room.columns, block, heat(palette));
  const context = sheet(parts.base, width, height);
  parts.base.setAttribute("aria-label", `${aligned.alignment.measure.label} between words`);
  if (context && image) paintField(context, image, block, room, WHOLE, palette);
  parts.marks.setAttribute("width", String(width));
  parts.marks.setAttribute("height", String(height));
  parts.marks.replaceChildren(
    ...aligned.marks.flatMap((mark) => markIn(scene, mark)),
    ...loose(scene),
  );
}

/** A frame around what is linked; a square for what people say: filled if sure. */
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
  const side = Math.max(3, Math.min(11, 0.44 * Math.min(wide, tall)));
  const [x, y] = [(source + 0.5) * wide - side / 2, (target + 0.5) * tall - side / 2];
  const square = gold ? [box(`nv-${gold}`, verdict, x, y, side, side, 0)] : [];
  for (const made of [...frame, ...square]) {
    for (const [name, value] of Object.entries(about)) made.setAttribute(name, String(value));
  }
  for (const made of frame) made.style.strokeWidth = `${line}px`;
  return [...frame, ...square];
}

/** Frames around special tokens that have most of what a word takes: it has no link. */
function loose({ aligned: { alignment }, room }: Scene): SVGElement[] {
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

/** A cell in a line, as the readout says it. */
function cellLine({ aligned, across }: Scene, { row, column }: { row: number; column: number }) {
  const { alignment } = aligned;
  if (column < alignment.source.length) return pairLine(aligned, row, column);
  const [word, none] = [alignment.target[row].label, across.labels[column]].map(quoted);
  const share = percent(noneOf(alignment, row));
  return `${word} ← ${none}: ${share} of what ${word} takes; no word, so no link`;
}

function focusAt({ aligned }: Scene, { row }: { row: number }): Focus {
  return { side: "query", token: aligned.alignment.target[row].pieces[0] };
}

/** Bring out a row or a column, on the field and along its sides. */
function aim(parts: Parts, scene: Scene, at: At | null, met: number | null): void {
  const { room, palette, aligned, down, across } = scene;
  const { width, height } = sizeOf(room);
  const { source } = aligned.alignment;
  const row = at?.side === "query" ? at.word : null;
  const own = at?.side === "key" ? Math.min(at.word, source.length) : null;
  const context = sheet(parts.top, width, height);
  if (context)
    paintAim(context, { row, column: own ?? (row === null ? null : met) }, room, WHOLE, palette);
  const sight = (seen: number, pitch: number) => ({
    first: 0,
    seen,
    pitch,
    letters: fontFor(Math.max(LINE, pitch)),
  });
  parts.down.show(down, { ...sight(room.rows, room.tall), own: row, met: null });
  parts.across.show(across, {
    ...sight(room.columns, room.wide),
    own,
    met: row === null ? null : met,
  });
  for (const made of parts.marks.querySelectorAll<SVGElement>("[data-target]")) {
    const isOwn =
      row === null ? made.dataset.source === String(own) : made.dataset.target === String(row);
    made.classList.toggle("nv-dim", at !== null && !isOwn);
  }
}

/** What the deepest color stands for. */
export function deepest(aligned: Aligned): number {
  return most(sharesIn(aligned));
}
