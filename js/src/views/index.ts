/** Every kind of picture, by the name a reader chooses it by. */

import type { ViewName } from "../wire/types";
import { alignmentView } from "./alignment/view";
import { flowView } from "./flow/view";
import { gridView } from "./grid/view";
import { matrixView } from "./matrix/view";
import { profileView } from "./profile/view";
import { stackView } from "./stack/view";
import type { MakeView } from "./view";

export interface Kind {
  /** What it shows, for whoever points at its button. */
  title: string;
  make: MakeView;
  /** Whether a comparison puts two of it side by side; otherwise it compares inside itself. */
  pairs: boolean;
}

export const KINDS: Record<ViewName, Kind> = {
  flow: { title: "what goes from token to token in one layer", make: flowView, pairs: true },
  stack: { title: "all layers at once: what a token is made of", make: stackView, pairs: true },
  grid: { title: "every layer and head in small", make: gridView, pairs: false },
  matrix: { title: "one layer as a heatmap", make: matrixView, pairs: true },
  profile: { title: "shares by kind of token, layer by layer", make: profileView, pairs: false },
  alignment: { title: "which words of two texts are aligned", make: alignmentView, pairs: true },
};
