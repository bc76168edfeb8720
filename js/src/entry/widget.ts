/** The notebook's door: the only file that knows anywidget. */

import type { AnyModel, Render } from "@anywidget/types";
import { guard, mount } from "../app/mount";
import { same } from "../state/signal";
import { Store } from "../state/store";
import { type Delivery, Tiles } from "../state/tiles";
import { CHOICES, type Choice, type Header } from "../wire/types";
import "../styles/style.css";

interface Traits extends Choice {
  _header: Header;
  _data: DataView;
}

const render: Render<Traits> = ({ model, el, signal }) => {
  guard(el, () => {
    const header = model.get("_header");
    const store = new Store(header, chosen(model));
    const tiles = new Tiles(header.tiles, model.get("_data"), (want) => model.send({ want }));
    sync(model, store, signal);
    receive(model, tiles, signal);
    mount(el, store, tiles, signal);
  })();
};

/** Keep the choices of Python and of the view the same. */
function sync(model: AnyModel<Traits>, store: Store, signal: AbortSignal): void {
  const fromPython = () => store.choose(chosen(model));
  for (const name of CHOICES) model.on(`change:${name}`, fromPython);
  const toPython = () => {
    const choice = store.choice.value;
    const changed = CHOICES.filter((name) => !same(choice[name], model.get(name)));
    for (const name of changed) model.set(name, choice[name]);
    if (changed.length > 0) model.save_changes();
  };
  store.choice.watch(toPython, signal);
  const leave = () => {
    for (const name of CHOICES) model.off(`change:${name}`, fromPython);
  };
  signal.addEventListener("abort", leave, { once: true });
}

/** Hand the tiles that Python sends to those who wait for them. */
function receive(model: AnyModel<Traits>, tiles: Tiles, signal: AbortSignal): void {
  const arrived = (content: unknown, buffers: DataView[]): void => {
    const delivery = content as Partial<Delivery> | null;
    if (typeof delivery?.tile === "string") tiles.accept(delivery as Delivery, buffers ?? []);
  };
  model.on("msg:custom", arrived);
  signal.addEventListener("abort", () => model.off("msg:custom", arrived), { once: true });
}

function chosen(model: AnyModel<Traits>): Choice {
  return Object.fromEntries(CHOICES.map((name) => [name, model.get(name)])) as unknown as Choice;
}

export default { render };
