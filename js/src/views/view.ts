/** What every view offers to the page that shows it. */

import type { Ranking } from "../data/layer";
import type { Palette } from "../draw/colors";
import type { Pane } from "../state/pane";
import type { Focus, Role, ViewState } from "../wire/types";
import type { Description } from "../words/describe";

/** What a view may do to the page. */
export interface ViewActions {
  hover(focus: Focus | null): void;
  pin(focus: Focus): void;
  choose(changes: Partial<ViewState>): void;
  /** Update legend and readout, because something other than a token is pointed at. */
  refresh?(): void;
  /** The role that the state has, for tokens that can have both. */
  role?(): Role;
  /** The pinned token, which stays pinned while another one is pointed at. */
  pinned?(): Focus | null;
}

export interface View {
  node: HTMLElement;
  /** Draw a pane; false while its numbers are loading. */
  draw(pane: Pane, palette: Palette): boolean;
  /** Highlight one token and dim the rest, or highlight nothing. */
  highlight(focus: Focus | null): void;
  /** What was drawn, phrase by phrase: units, scaling, omissions. */
  legend(): (string | HTMLElement)[];
  /** The view in words, about the token in focus or overall. */
  describe(focus: Focus | null): Description;
  /** The marks of its canvases as SVG, if they should be saved as vectors. */
  vectors?(): Map<HTMLCanvasElement, string[]>;
  /** What each key gives, to describe changes between two measures; null if not applicable. */
  ranking?(focus: Focus | null): Ranking | null;
}

/** Creates a view that lives until the signal is aborted. */
export type CreateView = (actions: ViewActions, signal: AbortSignal) => View;
