/** What every kind of picture offers to the page that shows it. */

import type { Ribbons } from "../layout";
import type { Focus } from "../model";
import type { Picture } from "../picture";
import type { Palette } from "../scales";

export interface View {
  node: HTMLElement;
  /** Draw all of a picture, and say what was drawn. */
  draw(picture: Picture, palette: Palette): Ribbons;
  /** Bring out one token and dim the rest, or nothing; tells how many times wider it is drawn. */
  highlight(focus: Focus | null): number;
}
