/** Every view by its name. */

import { canTrace } from "../data/stack";
import type { Measure, ViewName } from "../wire/types";
import { canAlign } from "./alignment/data";
import { alignmentView } from "./alignment/view";
import { flowView } from "./flow/view";
import { gridView } from "./grid/view";
import { matrixView } from "./matrix/view";
import { profileView } from "./profile/view";
import { stackView } from "./stack/view";
import { textView } from "./text/view";
import type { CreateView } from "./view";

export { type Shown, usesOf } from "./uses";

export interface ViewKind {
  /** The tooltip of its button. */
  title: string;
  create: CreateView;
  /** Whether a comparison shows two of it side by side; otherwise it compares within itself. */
  pairs: boolean;
  /** Whether it can draw a measure; without this it can draw all of them. */
  canShow?(measure: Measure): boolean;
}

export const KINDS: Record<ViewName, ViewKind> = {
  flow: { title: "what moves from token to token in one layer", create: flowView, pairs: true },
  stack: {
    title: "all layers: what a token is made of",
    create: stackView,
    pairs: true,
    canShow: canTrace,
  },
  grid: { title: "thumbnails of every layer and head", create: gridView, pairs: false },
  matrix: { title: "one layer as a heatmap", create: matrixView, pairs: true },
  profile: { title: "shares by kind of token, layer by layer", create: profileView, pairs: false },
  alignment: {
    title: "how the words of two texts align",
    create: alignmentView,
    pairs: true,
    canShow: canAlign,
  },
  text: { title: "the text itself, each token shaded by its share", create: textView, pairs: true },
};
