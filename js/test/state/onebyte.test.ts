import { expect, test } from "vitest";
import { Tiles } from "../../src/state/tiles";
import { pane } from "../support/fixtures";

const { stream } = pane([[[1, 1]]]);
const name = "0/encoder/weight/5/all";
const codes = new DataView(Uint8Array.of(252, 0).buffer);
const about = { scale: 0.75 };

test("a tile in one byte each is as large as it says, also one that is sent", () => {
  const place = { name, dtype: "log8" as const, about, offset: 0, bytes: 2 };
  expect([...(new Tiles([place], codes).layer(0, stream, "weight", 5) ?? [])]).toEqual([0.75, 0]);
  const sent = new Tiles([], new DataView(new ArrayBuffer(0)), () => undefined);
  sent.accept({ tile: name, dtype: "log8", about }, [codes]);
  expect([...(sent.layer(0, stream, "weight", 5) ?? [])]).toEqual([0.75, 0]);
});
