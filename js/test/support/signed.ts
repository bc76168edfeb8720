/** The flow with effective attention that Python wrote: numbers above zero and below. */

import { type Picture, pictureOf } from "../../src/data/layer";
import { type Pane, panesOf } from "../../src/state/pane";
import { Store } from "../../src/state/store";
import { Tiles } from "../../src/state/tiles";
import type { Choice, Header } from "../../src/wire/types";
import contract from "./contract.json";

const header = contract.signed.header as unknown as Header;

export function signedStore(changes: Partial<Choice> = {}): Store {
  const choice = contract.signed.choice as unknown as Choice;
  return new Store(header, { ...choice, measure: "effective-weight", ...changes });
}

export function signedTiles(): Tiles {
  const bytes = Uint8Array.from(atob(contract.signed.data), (letter) => letter.charCodeAt(0));
  return new Tiles(header.tiles, new DataView(bytes.buffer));
}

export function signedPane(changes: Partial<Choice> = {}): Pane {
  return panesOf(header, signedStore(changes).choice.value, signedTiles())[0];
}

export function signedPicture(changes: Partial<Choice> = {}): Picture {
  const picture = pictureOf(signedPane(changes));
  if (!picture) throw new Error("the contract lacks these numbers");
  return picture;
}
