/** The finding of the layer that is shown, in large type. */

import { measureColor, type Palette } from "../draw/colors";
import { element } from "../draw/dom";
import type { Store } from "../state/store";
import type { Control } from "./controls";

/** A heading whose numbers have the hues of their measures; hidden if there is no finding. */
export function headline(store: Store): Control {
  const node = element("h2", { class: "nv-headline" });
  const show = (palette: Palette): void => {
    const { layer } = store.state.value;
    const found = store.stream.headlines.find((one) => one.layer === layer);
    node.hidden = found === undefined;
    const parts = (found?.parts ?? []).map(([text, measure]) => {
      const part = element("span", {}, text);
      if (measure) part.style.color = measureColor(store.measureOf(measure), palette);
      return part;
    });
    node.replaceChildren(...parts);
  };
  return { node, show };
}
