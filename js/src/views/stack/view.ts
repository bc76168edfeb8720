/** The stack view: a column of tokens per layer, and a trace of what a token is made of. */

import { focusedRow, type Ranking, type TokenRow } from "../../data/layer";
import { middle } from "../../data/ribbons";
import { type Stack, stackOf, tracedLayer } from "../../data/stack";
import { element, visibleText } from "../../draw/dom";
import { maxOf } from "../../math/arrays";
import type { Pane } from "../../state/pane";
import { isEqual } from "../../state/signal";
import type { Focus } from "../../wire/types";
import { revealRow } from "../shared/reveal";
import type { View, ViewActions } from "../view";
import { arrange } from "./arrange";
import { type Marks, paint, paintScrolled, vectorsOf } from "./canvas";
import { type Lanes, leastGap } from "./layout";
import { makeupOf } from "./makeup";
import { trackPath } from "./pathEnd";
import { namesOf, type Route, type Spot } from "./route";
import { describeNoRoute, describeRoute } from "./routeWords";
import { buildElements, type Elements, type Scene, showTitles } from "./stage";
import { namesIn, type Strands, strandsOf } from "./strands";
import { AS_WIDE, describeMakeup, stackLegend } from "./words";

/** The minimum gap in which a token is named. */
const NAMEABLE = 44;

/** The maximum width of a name; the same in the style sheet. */
const NAME = 90;

/** How many stacks are cached: 12 MB each for 12 layers of 512 tokens. */
const KEPT = 3;

/** A token is lit if it has at least this fraction of the largest value. */
const LIT = 0.1;

export function stackView(actions: ViewActions, signal: AbortSignal): View {
  const cachedStack = cacheStacks();
  let scene: Scene | null = null;
  let shown: { focus: Focus | null; marks: Marks } | null = null;
  /** The layer under the pointer, which replaces the chosen layer. */
  let pointedLayer: number | null = null;
  const path = trackPath(actions, () => scene);

  const look = (spot: Spot | null): void => {
    const wasPath = path.isPointed();
    const layer = path.point(spot) ? null : (spot?.layer ?? null);
    const focus = path.isPointed() ? null : (spot?.focus ?? null);
    const isElsewhere = layer !== pointedLayer;
    pointedLayer = layer;
    // The same token in another layer is the same focus, but another trace.
    const isSame = isElsewhere && focus && isEqual(focus, shown?.focus);
    if (!isSame) actions.hover(focus);
    if (isSame || wasPath || path.isPointed()) actions.refresh?.();
  };
  const pick = (spot: Spot): void => {
    if (path.keep(spot)) actions.refresh?.();
    else if (scene) pinInLayer(actions, scene.pane, spot);
  };
  const press = (event: KeyboardEvent): boolean => {
    const isPressed = path.press(event, shown?.marks.strands.makeup ?? null);
    if (isPressed) actions.refresh?.();
    return isPressed;
  };
  const scrolled = (): unknown => scene && shown && paintScrolled(elements, scene, shown.marks);
  const choose = (measure: string) => actions.choose({ measure });
  const reach = { look, pick, press, choose, scrolled, scene: () => scene };
  const elements = buildElements(reach, signal);
  const marksFor = (focus: Focus | null): Marks => {
    if (!scene) throw new Error("Nothing has been drawn yet.");
    const isKnown = shown !== null && isEqual(shown.focus, focus);
    if (!isKnown) {
      const strands = strandsOfFocus(scene, focus, pointedLayer);
      shown = { focus, marks: { strands, route: path.routeFrom(focus, pointedLayer) } };
    }
    return shown?.marks ?? { strands: scene.whole, route: null };
  };
  return {
    node: elements.node,
    draw: (pane, palette) => {
      const stack = cachedStack(pane);
      if (!stack) return false;
      shown = null;
      elements.note.show(stack, pane);
      const before = scene;
      scene = arrange(elements, pane, stack, palette, before);
      // Another layer changes the trace only of a token in focus.
      if (scene.whole !== before?.whole) {
        paint(elements, "base", scene, { strands: scene.whole, route: null });
      }
      return true;
    },
    highlight: (focus) => {
      if (!scene) return;
      shown = null;
      highlightToken(elements, scene, marksFor(focus));
    },
    legend: () => (shown ? legendOf(shown.marks) : []),
    describe: (focus) => {
      const { strands, route } = marksFor(focus);
      if (route) return describeRoute(strands.makeup, route);
      const ends = path.endsOf(focus, pointedLayer);
      return ends ? describeNoRoute(strands.makeup, ...ends) : describeMakeup(strands.makeup);
    },
    ranking: (focus) => rankingIn(scene, marksFor(focus).strands),
    vectors: () =>
      scene
        ? vectorsOf(elements, scene, shown?.marks ?? { strands: scene.whole, route: null })
        : new Map(),
  };
}

/** Computes the stack of a pane, and caches the last few. */
function cacheStacks(): (pane: Pane) => Stack | null {
  const kept = new Map<string, Stack>();
  return (pane) => {
    const { index, stream, measure, state } = pane;
    const { heads, words, special } = state;
    const key = JSON.stringify([index, stream.name, measure.id, heads, words, special]);
    const stack = kept.get(key) ?? stackOf(pane);
    if (!stack) return null;
    kept.delete(key);
    kept.set(key, stack);
    if (kept.size > KEPT) kept.delete([...kept.keys()][0]);
    return stack;
  };
}

/** The strands of the token in focus; of all tokens if none is. */
function strandsOfFocus(scene: Scene, focus: Focus | null, pointed: number | null): Strands {
  const { stack, pane, lanes, whole } = scene;
  const about = focusedRow(stack, focus);
  if (!about) return whole;
  const layer = pointed ?? tracedLayer(pane, stack.mode, focus);
  return strandsOf(makeupOf(stack, about, layer), lanes, pane.state.threshold);
}

/** Pin a token; if it belongs to another layer than the chosen one, choose that layer too. */
function pinInLayer(actions: ViewActions, { state }: Pane, { focus, layer }: Spot) {
  if (layer !== null && layer !== state.layer) {
    const isSecond = state.compare === state.layer;
    // Unpin first, because pinning a pinned token unpins it.
    actions.choose({ ...(isSecond ? { compare: layer } : { layer }), token: null });
  }
  actions.pin(focus);
}

/** Highlight what the token in focus is made of, and dim the rest. */
function highlightToken(elements: Elements, scene: Scene, marks: Marks): void {
  const { strands, route } = marks;
  const { about, shares } = strands.makeup;
  showTitles(elements, scene, strands);
  elements.base.classList.toggle("nv-faint", about !== null);
  if (about) revealRow(elements.figure, about.row, scene.lanes.pitch);
  paint(elements, "top", scene, about && marks);
  paintScrolled(elements, scene, marks);
  const lit = route ? endRows(route, scene.lanes, about) : litRows(shares);
  const gives = about?.role === "key";
  const nothing = about && new Set<number>();
  elements.keys.mark(gives ? about.row : null, about && !gives ? lit : nothing);
  elements.queries.mark(about && !gives ? about.row : null, gives ? lit : nothing);
  elements.names.replaceChildren(...namesFor(elements, scene, marks));
}

/** Names inside the field, where they fit and no token label is beside them. */
function namesFor(
  { figure }: Elements,
  { lanes, width }: Scene,
  { strands, route }: Marks,
): HTMLElement[] {
  const { posts, pitch } = lanes;
  const isRoomy = leastGap(lanes) >= NAMEABLE;
  const isBeside = (at: number) =>
    at === 0 || (at === posts.length - 1 && !figure.classList.contains("nv-narrow"));
  return (route ? namesOf(route) : namesIn(strands))
    .filter(({ column, isOwn }) => !isBeside(column) && (isRoomy || isOwn))
    .map(({ label, column, row, isOwn }) => {
      const name = element("span", { dir: "auto" }, visibleText(label));
      name.classList.toggle("nv-on", isOwn);
      name.classList.toggle("nv-left", posts[column] + NAME > width);
      // A name beside the line of a path stands clear of it.
      if (route) name.classList.add(row === 0 ? "nv-under" : "nv-over");
      name.style.left = `${posts[column]}px`;
      name.style.top = `${middle(row, pitch)}px`;
      return name;
    });
}

/** The token of an outer column at which a path ends, other than the pinned one. */
function endRows({ rows, columns }: Route, { posts }: Lanes, about: TokenRow | null): Set<number> {
  if (about?.role === "key") {
    return new Set(columns[columns.length - 1] === posts.length - 1 ? rows.slice(-1) : []);
  }
  return new Set(columns[0] === 0 ? rows.slice(0, 1) : []);
}

/** The tokens with a notable share. */
function litRows(shares: Float64Array): Set<number> {
  const least = LIT * maxOf(shares);
  return new Set([...shares.keys()].filter((row) => shares[row] > 0 && shares[row] >= least));
}

/** The legend, with a swatch of the stated height. */
function legendOf({ strands, route }: Marks): (string | HTMLElement)[] {
  const { makeup, links, unit, width } = strands;
  const swatch = element("i", { class: "nv-swatch", "aria-hidden": "true" });
  swatch.style.height = `${unit * width}px`;
  const lines = stackLegend(makeup, links, unit).map((line) =>
    line.startsWith(AS_WIDE) ? element("span", {}, swatch, line) : line,
  );
  return route ? ["dark line: the strongest path between the two tokens", ...lines] : lines;
}

/** The shares for comparing two panes; null for a single pane. */
function rankingIn(scene: Scene | null, { makeup }: Strands): Ranking | null {
  if (!scene?.pane.title || makeup.about?.role === "key" || makeup.shares.length === 0) return null;
  return { labels: scene.stack.rows.key.labels, values: makeup.shares };
}
