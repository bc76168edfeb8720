/** Charts that come with a flow, such as those of a study: as curves, and in words. */

import { hueColor, type Kind, kindsOf, plainColor, SHAPES } from "../../data/tokenKinds";
import { number, type Palette, percent } from "../../draw/colors";
import { most, total } from "../../math/arrays";
import type { Chart, Series } from "../../wire/types";
import type { Aside, Table } from "../../words/describe";
import type { Curve, Lines } from "./data";

/** None is the hue of a kind of token, for these curves are of something else. */
const HUES = [295, 190, 55, 345, 120, 235];

type Look = Pick<Kind, "color" | "shape">;

/** A chart as curves: one hue and one mark for each group, gray for what is only a measure. */
export function chartCurves(chart: Chart, palette: Palette): Lines {
  const { title, label, layers, series } = chart;
  const looks = looksOf(chart, palette);
  return {
    layers,
    title: `${title}: ${label}`,
    about: `${title} by layer`,
    ...(chart.unit ? { top: topOf(series) } : {}),
    curves: series.map((one): Curve => {
      const { name, values, faint, dashed, low, high } = one;
      const look = looks.get(groupOf(one)) ?? { shape: SHAPES[0], color: plainColor(palette) };
      const color = faint ? plainColor(palette) : look.color;
      return {
        kind: { id: name, name, color, shape: look.shape },
        name,
        isOther: dashed,
        isFaint: faint,
        shares: values,
        ...(low && high ? { band: { low, high } } : {}),
      };
    }),
  };
}

/** The color and mark of each group; kinds of token have those that they have everywhere. */
function looksOf({ series, kinds }: Chart, palette: Palette): Map<string, Look> {
  const groups = [...new Set(series.filter(({ faint }) => !faint).map(groupOf))];
  if (kinds) return new Map(kindsOf(groups, palette).map((kind) => [kind.id, kind]));
  return new Map(
    groups.map((group, at) => {
      const color = hueColor(HUES[at % HUES.length], palette);
      return [group, { color, shape: SHAPES[at % SHAPES.length] }];
    }),
  );
}

/** A little more than what the highest curve reaches with its band. */
function topOf(series: Series[]): number {
  return (most(series.flatMap(({ values, high }) => [...values, ...(high ?? [])])) || 1) * 1.05;
}

function groupOf({ group, name }: Series): string {
  return group || name;
}

/** The values of one layer in a sentence and in a table; nothing where the chart lacks it. */
export function describeChart(chart: Chart, layer: number): Aside {
  const { title, label, layers, series } = chart;
  const told = telling(chart);
  const at = layers.indexOf(layer);
  if (at < 0) return { notes: [], also: [] };
  const each = series.map(({ name, values }) => `${name} ${told(values[at])}`);
  const between = ({ low, high }: Series) =>
    low && high ? `${told(low[at]).replace("%", "")}–${told(high[at])}` : "";
  return {
    notes: [`In layer ${layer}, ${title}: ${each.join(", ")}.`],
    also: [
      {
        caption: `Layer ${layer}: ${title}`,
        columns: ["", "curve", label, "between"],
        rows: series.map((one, place) => [
          String(place + 1),
          one.name,
          told(one.values[at]),
          between(one),
        ]),
      },
    ],
  };
}

/** Every number of a chart: a row for each layer, and one for their mean. */
export function chartTable(chart: Chart): Table {
  const { title, label, layers, series } = chart;
  const told = telling(chart);
  const mean = (values: number[]) => total(values) / values.length;
  return {
    style: "nv-all",
    caption: `${title}: ${label}`,
    columns: ["layer", ...series.map(({ name }) => name)],
    rows: [
      ...layers.map((layer, at) => [String(layer), ...series.map((one) => told(one.values[at]))]),
      ["mean", ...series.map(({ values }) => told(mean(values)))],
    ],
  };
}

/** How the numbers of a chart are written. */
function telling({ unit }: Chart): (value: number) => string {
  return unit ? number : percent;
}

/** What the legend says of a chart. */
export function chartLines({ title, about, finding }: Chart): string[] {
  return [`${title}: ${about}`, ...(finding ? [finding] : [])];
}
