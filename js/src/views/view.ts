/** What every kind of picture offers to the page that shows it. */

import type { Palette } from "../draw/colors";
import type { Pane } from "../state/pane";
import type { Choice, Focus } from "../wire/types";
import type { Description } from "../words/describe";

/** What a picture may do to the page: point at a token, pin it, choose something else. */
export interface Hand {
  hover(focus: Focus | null): void;
  pin(focus: Focus): void;
  choose(changes: Partial<Choice>): void;
  /** Have legend and readout told anew: the picture points at something that is no token. */
  tell?(): void;
}

/** A quantity of each token on the reading side, to tell who rises and who falls. */
export interface Standing {
  labels: string[];
  values: ArrayLike<number>;
}

export interface View {
  node: HTMLElement;
  /** Draw a pane; false while its numbers are on their way. */
  draw(pane: Pane, palette: Palette): boolean;
  /** Bring out one token and dim the rest, or bring out nothing. */
  highlight(focus: Focus | null): void;
  /** What was drawn, phrase by phrase: units, scaling, what was left out. */
  legend(): (string | HTMLElement)[];
  /** The picture in words, about the token in focus or on the whole. */
  describe(focus: Focus | null): Description;
  /** The marks that its canvases show, as SVG, where they are better saved as such. */
  vectors?(): Map<HTMLCanvasElement, string[]>;
  /** What each token gives, to name the changes between two measures; null where it says nothing. */
  standing?(focus: Focus | null): Standing | null;
}

/** Makes a view that lives until the signal says stop. */
export type MakeView = (hand: Hand, signal: AbortSignal) => View;
