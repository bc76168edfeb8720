/** Charts that come with a flow, such as those of a study, as curves and in words. */

import { hueColor, kindsOf, plainColor, SHAPES, type TokenKind } from "../../data/tokenKinds";
import { formatNumber, formatPercent, type Palette } from "../../draw/colors";
import { maxOf, sumOf } from "../../math/arrays";
import type { Chart, Series } from "../../wire/types";
import type { Aside, Table } from "../../words/describe";
import type { Curve, Lines } from "./data";

/** Hues that no kind of token has. */
const HUES = [295, 190, 55, 345, 120, 235];

type Look = Pick<TokenKind, "color" | "shape">;

/** A chart as curves: one hue and one mark per group, gray for reference curves. */
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

/** The color and mark of each group; kinds of token have their usual ones. */
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

/** The upper limit of the axis: slightly above the highest curve and band. */
function topOf(series: Series[]): number {
  return (maxOf(series.flatMap(({ values, high }) => [...values, ...(high ?? [])])) || 1) * 1.05;
}

function groupOf({ group, name }: Series): string {
  return group || name;
}

/** The values of one layer in a sentence and a table; empty if the chart lacks the layer. */
export function describeChart(chart: Chart, layer: number): Aside {
  const { title, label, layers, series } = chart;
  const format = formatterFor(chart);
  const at = layers.indexOf(layer);
  if (at < 0) return { notes: [], also: [] };
  const each = series.map(({ name, values }) => `${name} ${format(values[at])}`);
  const between = ({ low, high }: Series) =>
    low && high ? `${format(low[at]).replace("%", "")}–${format(high[at])}` : "";
  return {
    notes: [`In layer ${layer}, ${title}: ${each.join(", ")}.`],
    also: [
      {
        caption: `Layer ${layer}: ${title}`,
        columns: ["", "curve", label, "between"],
        rows: series.map((one, place) => [
          String(place + 1),
          one.name,
          format(one.values[at]),
          between(one),
        ]),
      },
    ],
  };
}

/** All values of a chart: a row per layer, and one for the mean. */
export function chartTable(chart: Chart): Table {
  const { title, label, layers, series } = chart;
  const format = formatterFor(chart);
  const mean = (values: number[]) => sumOf(values) / values.length;
  return {
    style: "nv-all",
    caption: `${title}: ${label}`,
    columns: ["layer", ...series.map(({ name }) => name)],
    rows: [
      ...layers.map((layer, at) => [String(layer), ...series.map((one) => format(one.values[at]))]),
      ["mean", ...series.map(({ values }) => format(mean(values)))],
    ],
  };
}

/** The number format of a chart. */
function formatterFor({ unit }: Chart): (value: number) => string {
  return unit ? formatNumber : formatPercent;
}

/** The legend of a chart. */
export function chartLines({ title, about, finding }: Chart): string[] {
  return [`${title}: ${about}`, ...(finding ? [finding] : [])];
}
