/** The flow with effective attention that Python wrote: numbers above zero and below. */

import { type Picture, pictureOf } from "../../src/data/layer";
import { type Pane, panesOf } from "../../src/state/pane";
import { Store } from "../../src/state/store";
import { Tiles } from "../../src/state/tiles";
import type { Header, ViewState } from "../../src/wire/types";
import contract from "./contract.json";

const header = contract.signed.header as unknown as Header;

export function signedStore(changes: Partial<ViewState> = {}): Store {
  const state = contract.signed.state as unknown as ViewState;
  return new Store(header, { ...state, measure: "effective-weight", ...changes });
}

export function signedTiles(): Tiles {
  const bytes = Uint8Array.from(atob(contract.signed.data), (letter) => letter.charCodeAt(0));
  return new Tiles(header.tiles, new DataView(bytes.buffer));
}

export function signedPane(changes: Partial<ViewState> = {}): Pane {
  return panesOf(header, signedStore(changes).state.value, signedTiles())[0];
}

export function signedPicture(changes: Partial<ViewState> = {}): Picture {
  const picture = pictureOf(signedPane(changes));
  if (!picture) throw new Error("the contract lacks these numbers");
  return picture;
}
