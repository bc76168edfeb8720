/** The column of bars beside the keys: the share that each of them gives. */

import { element } from "../../draw/dom";
import { formatSignedPercent } from "../../draw/signedCells";
import { maxOf } from "../../math/arrays";

export interface ShareColumn {
  node: HTMLElement;
  /** Show shares, with the share of a full bar and the colors of positive and negative ones. */
  show(shares: ArrayLike<number>, full: number, colors: readonly [string, string]): void;
}

/** Smaller shares have no number, because there are many of them. */
const NUMBERED = 0.045;

/** The length of a full bar, in pixels. */
const REACH = 60;

export function shareColumn(): ShareColumn {
  const node = element("ol", { class: "nv-shares", "aria-hidden": "true" }); // the table has them
  const bars: { number: HTMLElement; bar: HTMLElement }[] = [];
  const show: ShareColumn["show"] = (shares, full, [above, below]) => {
    while (bars.length > shares.length) bars.pop();
    while (bars.length < shares.length) bars.push({ number: element("span"), bar: element("i") });
    if (node.children.length !== bars.length) {
      node.replaceChildren(...bars.map(({ number, bar }) => element("li", {}, number, bar)));
    }
    bars.forEach(({ number, bar }, at) => {
      const size = Math.abs(shares[at]);
      number.textContent = size >= NUMBERED ? formatSignedPercent(shares[at]) : "";
      bar.style.width = `${((REACH * size) / full).toFixed(1)}px`;
      bar.style.background = shares[at] < 0 ? below : above;
    });
  };
  return { node, show };
}

/** The share of a full bar: the largest of all columns that are shown side by side. */
export function fullShare(columns: ArrayLike<number>[]): number {
  return Math.max(...columns.map((shares) => maxOf(Array.from(shares, Math.abs)))) || 1;
}
