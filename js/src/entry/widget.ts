/** The notebook's entry point: the only file that knows anywidget. */

import type { AnyModel, Render } from "@anywidget/types";
import { mount, withErrorNotice } from "../app/mount";
import { isEqual } from "../state/signal";
import { Store } from "../state/store";
import { type Delivery, Tiles } from "../state/tiles";
import { type Header, STATE_KEYS, type ViewState } from "../wire/types";
import "../styles/style.css";

interface Traits extends ViewState {
  _header: Header;
  _data: DataView;
}

const render: Render<Traits> = ({ model, el, signal }) => {
  withErrorNotice(el, () => {
    const header = model.get("_header");
    const store = new Store(header, stateOf(model));
    const tiles = new Tiles(header.tiles, model.get("_data"), (want) => model.send({ want }));
    sync(model, store, signal);
    receive(model, tiles, signal);
    mount(el, store, tiles, signal);
  })();
};

/** Keep the state the same in Python and in the view. */
function sync(model: AnyModel<Traits>, store: Store, signal: AbortSignal): void {
  const fromPython = () => store.choose(stateOf(model));
  for (const key of STATE_KEYS) model.on(`change:${key}`, fromPython);
  const toPython = () => {
    const state = store.state.value;
    const changed = STATE_KEYS.filter((key) => !isEqual(state[key], model.get(key)));
    for (const key of changed) model.set(key, state[key]);
    if (changed.length > 0) model.save_changes();
  };
  store.state.watch(toPython, signal);
  const leave = () => {
    for (const key of STATE_KEYS) model.off(`change:${key}`, fromPython);
  };
  signal.addEventListener("abort", leave, { once: true });
}

/** Pass on the tiles that Python sends. */
function receive(model: AnyModel<Traits>, tiles: Tiles, signal: AbortSignal): void {
  const onMessage = (content: unknown, buffers: DataView[]): void => {
    const delivery = content as Partial<Delivery> | null;
    if (typeof delivery?.tile === "string") tiles.accept(delivery as Delivery, buffers ?? []);
  };
  model.on("msg:custom", onMessage);
  signal.addEventListener("abort", () => model.off("msg:custom", onMessage), { once: true });
}

function stateOf(model: AnyModel<Traits>): ViewState {
  return Object.fromEntries(STATE_KEYS.map((key) => [key, model.get(key)])) as unknown as ViewState;
}

export default { render };
