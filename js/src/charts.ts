/** Charts that come with a flow, such as those of a study: as curves, and in words. */

import type { Aside } from "./describe";
import { hueColour, plainColour, SHAPES } from "./kinds";
import type { Chart, Series } from "./model";
import type { Curve, Lines } from "./profile";
import { type Palette, percent } from "./scales";

/** None is the hue of a kind of token, for these curves are of something else. */
const HUES = [295, 190, 55, 345, 120, 235];

/** A chart as curves: one hue and one mark for each group, grey for what is only a measure. */
export function chartCurves(chart: Chart, palette: Palette): Lines {
  const { title, label, layers, series } = chart;
  const groups = [...new Set(series.filter(({ faint }) => !faint).map(groupOf))];
  return {
    layers,
    title: `${title}: ${label}`,
    about: `${title} by layer`,
    curves: series.map((one): Curve => {
      const at = Math.max(0, groups.indexOf(groupOf(one)));
      const hue = HUES[at % HUES.length];
      const { name, values, faint, dashed, low, high } = one;
      const colour = faint ? plainColour(palette) : hueColour(hue, palette);
      return {
        kind: { id: name, name, colour, shape: SHAPES[at % SHAPES.length] },
        name,
        isOther: dashed,
        isFaint: faint,
        shares: values,
        ...(low && high ? { band: { low, high } } : {}),
      };
    }),
  };
}

function groupOf({ group, name }: Series): string {
  return group || name;
}

/** The values of one layer in a sentence and in a table; nothing where the chart lacks it. */
export function describeChart({ title, label, layers, series }: Chart, layer: number): Aside {
  const at = layers.indexOf(layer);
  if (at < 0) return { notes: [], also: [] };
  const told = series.map(({ name, values }) => `${name} ${percent(values[at])}`);
  const between = ({ low, high }: Series) =>
    low && high ? `${percent(low[at]).replace("%", "")}–${percent(high[at])}` : "";
  return {
    notes: [`In layer ${layer}, ${title}: ${told.join(", ")}.`],
    also: [
      {
        caption: `Layer ${layer}: ${title}`,
        columns: ["", "curve", label, "between"],
        rows: series.map((one, place) => [
          String(place + 1),
          one.name,
          percent(one.values[at]),
          between(one),
        ]),
      },
    ],
  };
}

/** What the legend says of a chart. */
export function chartLines({ title, about, finding }: Chart): string[] {
  return [`${title}: ${about}`, ...(finding ? [finding] : [])];
}
