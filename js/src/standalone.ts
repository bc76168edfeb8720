/** The one-file page's door: finds the flows written into the page and shows them. */

import { notice } from "./dom";
import type { Choice, Header } from "./model";
import { mount } from "./mount";
import { Store } from "./store";
import { Tiles } from "./tiles";

/** Show the flow that an element carries as two blocks of data. */
async function show(host: Element): Promise<HTMLElement> {
  const [about, packed] = [...host.querySelectorAll("script")].map((block) => block.text);
  const { header, choice } = JSON.parse(about) as { header: Header; choice: Choice };
  const numbers = await unpacked(packed);
  const root = document.createElement("div");
  host.append(root);
  mount(
    root,
    new Store(header, choice),
    new Tiles(header.tiles, numbers),
    new AbortController().signal,
  );
  return root;
}

/** Bytes from base64 and gzip, with nothing but what the browser has. */
async function unpacked(packed: string): Promise<DataView> {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new DataView(await new Response(stream).arrayBuffer());
}

const hosts = [...document.querySelectorAll(".normviz-snapshot")];
for (const host of hosts) {
  const shown = show(host).then((root) => {
    // A page with one view is that view, so its keys work at once.
    if (hosts.length === 1) root.focus({ preventScroll: true });
  });
  shown.catch((reason: unknown) => {
    host.append(notice(`The picture could not be drawn. ${String(reason)}`));
  });
}
