/** What the flow view paints: ribbons between the columns, or the bars of a measure without queries. */

import type { Norms, Picture, TokenRow } from "../../data/layer";
import { barsOf, type Ribbon, type Ribbons, ribbonsAt } from "../../data/ribbons";
import { headColor, measureColor, type Palette, signColors } from "../../draw/colors";
import type { Pen } from "../../draw/pen";
import { sumByKey } from "../../math/arrays";
import type { FocusedRibbons } from "../../words/legend";
import { ALONE, AMONG, paintBars, paintRibbons } from "../shared/paint";
import { GAP, type Stage } from "./stage";

/** What is drawn, and where. */
export interface Drawn {
  picture: Picture;
  /** The picture, and those beside it. */
  compared: Picture[];
  palette: Palette;
  drawn: Ribbons;
  stage: Stage;
}

/** All ribbons; of a measure without queries, bars. */
export function paintWhole(pen: Pen, { picture, palette, stage }: Drawn, ribbons: Ribbon[]): void {
  paintRibbons(pen, ribbons, stage, ribbonColors(picture, palette), AMONG);
  if (picture.norms) {
    const bars = { base: stage.left, reach: stage.width - stage.left - GAP, pitch: stage.pitch };
    paintBars(pen, barsOf(mergedNorms(picture, picture.norms)), bars, barColors(picture, palette));
  }
}

/** The ribbons of one token. */
export function paintOwn(
  pen: Pen,
  { picture, stage, palette }: Drawn,
  about: TokenRow,
): FocusedRibbons {
  const { ribbons, zoom } = ribbonsAt(picture, stage.pitch, about);
  paintRibbons(pen, ribbons, stage, ribbonColors(picture, palette), ALONE);
  return { ribbons, zoom };
}

/** The color of each strand: of its sign, of its head, or of the measure for all heads. */
function ribbonColors({ strands, measure }: Picture, palette: Palette): string[] {
  const [above, below] = signColors(measure, palette);
  return strands.map((strand) => {
    if (strand === null) return measureColor(measure, palette);
    if (typeof strand === "number") return headColor(strand, palette);
    return strand === "above" ? above : below;
  });
}

/** One bar for all heads; if some are chosen, the bar of each. */
function mergedNorms({ stream, keys }: Picture, norms: Norms): Norms {
  if (norms.heads.length < stream.heads.length) return norms;
  return { ...norms, values: Float32Array.from(sumByKey(norms.values, keys)), heads: [null] };
}

/** The color of each plane of the bars: of its head, or of the measure if all are in one. */
function barColors({ norms, measure, stream }: Picture, palette: Palette): string[] {
  const heads = norms?.heads ?? [];
  if (heads.length === stream.heads.length) return [measureColor(measure, palette)];
  return heads.map((head) => headColor(head, palette));
}
