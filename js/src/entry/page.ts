/** The one-file page's entry point: finds the flows written into the page and shows them. */

import { mount } from "../app/mount";
import { mountReport } from "../app/report";
import { element, notice } from "../draw/dom";
import { shadeFor, watchHost } from "../draw/theme";
import { Store } from "../state/store";
import { Tiles } from "../state/tiles";
import { readHash, targetFlow, unknownParts, writeHash } from "../state/url";
import { hashWriter } from "../state/urlSync";
import type { Header, Report, ViewState } from "../wire/types";

/** One flow of the page, with its number if there are several. */
interface Entry {
  host: HTMLElement;
  number: number | null;
  store: Store;
  first: ViewState;
  packed: string;
  /** Show it, once; an error appears as a notice. */
  open(): Promise<void>;
}

const FOREVER = new AbortController().signal;

/** The flow that an element holds as two blocks of data, not yet shown. */
function readEntry(host: HTMLElement, number: number | null): Entry {
  const [json, packed] = [...host.querySelectorAll("script")].map((block) => block.text);
  const { header, state } = JSON.parse(json) as { header: Header; state: ViewState };
  const store = new Store(header, state);
  store.choose({}); // Python lists all heads by number, the view as null
  const entry = { host, number, store, first: store.state.value, packed };
  let opened: Promise<void> | null = null;
  const open = (): Promise<void> => {
    opened ??= showEntry(entry).catch((reason: unknown) => showFailure(host, reason));
    return opened;
  };
  return { ...entry, open };
}

function showFailure(host: HTMLElement, reason: unknown): void {
  host.append(notice(`The view could not be drawn. ${String(reason)}`));
}

async function showEntry({ host, store, packed, number }: Omit<Entry, "open">): Promise<void> {
  const tiles = new Tiles(store.header.tiles, await unpack(packed));
  const root = element("div");
  host.append(root);
  host.style.minHeight = "";
  mount(root, store, tiles, FOREVER);
  // If the view is the whole page, its keys work at once; in a frame it must not take the focus.
  if (number === null && window.parent === window) root.focus({ preventScroll: true });
}

/** Bytes from base64 and gzip, using only what the browser has. */
async function unpack(packed: string): Promise<DataView> {
  const stream = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new DataView(await new Response(stream).arrayBuffer());
}

/** Bytes from base64: by the browser, which is several times faster, or else by hand. */
function bytesOf(packed: string): Uint8Array<ArrayBuffer> {
  const native = Uint8Array as { fromBase64?: (letters: string) => Uint8Array<ArrayBuffer> };
  if (native.fromBase64) return native.fromBase64(packed);
  const letters = atob(packed);
  const bytes = new Uint8Array(letters.length);
  // A plain loop: Uint8Array.from takes seconds for a large file.
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

/** Every readable flow of the page; the others show why they cannot be read. */
function entriesIn(hosts: HTMLElement[]): Entry[] {
  return hosts.flatMap((host, index) => {
    try {
      return [readEntry(host, hosts.length > 1 ? index + 1 : null)];
    } catch (reason) {
      showFailure(host, reason);
      return [];
    }
  });
}

/** Show what the URL asks for, and keep the URL in step with the state. */
function followUrl(entries: Entry[], count: number, status: HTMLElement): (number: number) => void {
  let target: number | null = null;
  const read = (): void => {
    const { hash } = location;
    const entry = entries.find(({ number }) => number !== null && number === targetFlow(hash));
    target = entry?.number ?? null;
    const problems = count > 1 ? unknownParts(hash, count) : [];
    for (const { store, first, number } of entries) {
      const result = readHash(hash, store.header, first, number);
      store.choose(result.state);
      problems.push(...result.problems);
    }
    status.textContent = problemSentence(problems);
    if (entry) goTo(entry.host);
  };
  read();
  const write = hashWriter(() => {
    const parts = entries.map(({ store, first, number }) =>
      writeHash(store.state.value, first, number),
    );
    const flow = target === null ? "" : `flow=${target}`;
    return [flow, ...parts].filter((part) => part !== "").join("&");
  });
  const onChange = (): void => {
    status.textContent = "";
    write();
  };
  for (const { store } of entries) store.state.watch(onChange, FOREVER);
  window.addEventListener("hashchange", read);
  return (number) => {
    target = number;
    write();
  };
}

/** "Ignored unknown URL parameter: layer=9." */
function problemSentence(problems: string[]): string {
  if (problems.length === 0) return "";
  const parameters = problems.length > 1 ? "parameters" : "parameter";
  return `Ignored unknown URL ${parameters}: ${problems.join(", ")}.`;
}

/** How long other flows may still push a flow away while they load, in milliseconds. */
const SETTLING = 1500;

/** Scroll to a flow, and stay there while those around it load, unless the reader acts. */
function goTo(host: HTMLElement): void {
  const settled = new AbortController();
  const observer = new ResizeObserver(() => host.scrollIntoView());
  const { style } = document.documentElement;
  const leave = (): void => {
    observer.disconnect();
    settled.abort();
    style.overflowAnchor = "";
  };
  style.overflowAnchor = "none"; // otherwise the browser scrolls as well
  host.scrollIntoView();
  observer.observe(document.body);
  for (const act of ["wheel", "pointerdown", "keydown", "hashchange"]) {
    window.addEventListener(act, leave, { passive: true, signal: settled.signal });
  }
  setTimeout(leave, SETTLING);
}

/** A list of the flows, as links. */
function flowIndex(entries: Entry[], go: (number: number) => void): HTMLElement {
  const items = entries.map(({ host, number, store, open }) => {
    const { model, title } = store.flow;
    const text = element("span", { dir: "auto" }, title);
    const link = element("a", { href: `#flow=${number}` }, element("b", {}, model), " ", text);
    const onClick = async (event: Event): Promise<void> => {
      event.preventDefault(); // in a frame the URL would be another page's
      goTo(host);
      go(number ?? 1);
      await open();
      host.querySelector<HTMLElement>(".normviz")?.focus({ preventScroll: true });
    };
    link.addEventListener("click", onClick);
    return element("li", {}, link);
  });
  return element("nav", { "aria-label": "flows on this page" }, element("ol", {}, ...items));
}

/** Open each flow when it comes near the visible part of the page. */
function openWhenNear(entries: Entry[]): void {
  const byHost = new Map(entries.map((entry) => [entry.host as Element, entry]));
  const observer = new IntersectionObserver(
    (changes) => {
      for (const { target, isIntersecting } of changes) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        void byHost.get(target)?.open();
      }
    },
    { rootMargin: "100% 0px" },
  );
  for (const { host, store } of entries) {
    host.style.minHeight = `${heightOf(store)}px`;
    observer.observe(host);
  }
}

/** The approximate height of a view, to reserve its space on the page. */
function heightOf({ stream }: Store): number {
  const tokens = Math.max(stream.queries.pieces.length, stream.keys.pieces.length);
  return 260 + Math.min(690, Math.max(10, tokens) * 20);
}

/** Show the charts that an element holds as a block of data. */
function openReport(host: HTMLElement): void {
  try {
    const report = JSON.parse(host.querySelector("script")?.text ?? "") as Report;
    const root = element("div");
    host.append(root);
    mountReport(root, report, FOREVER);
    if (window.parent === window) root.focus({ preventScroll: true });
  } catch (reason) {
    showFailure(host, reason);
  }
}

function start(): void {
  const every = [...document.querySelectorAll<HTMLElement>(".normviz-snapshot")];
  const isReport = (host: HTMLElement) => host.matches(".normviz-report");
  every.filter(isReport).forEach(openReport);
  const hosts = every.filter((host) => !isReport(host));
  const entries = entriesIn(hosts);
  const status = element("p", { class: "normviz-told", role: "status" });
  const head = element("header", { class: "normviz-head" });
  const setShade = (): void => {
    head.dataset.shade = status.dataset.shade = shadeFor("auto");
  };
  setShade();
  watchHost(setShade, FOREVER);
  every[0]?.before(status);
  if (hosts.length === 0) return;
  if (hosts.length === 1) {
    followUrl(entries, 1, status);
    void entries[0]?.open();
    return;
  }
  openWhenNear(entries);
  const list = flowIndex(entries, (number) => go(number));
  head.append(list);
  status.before(head);
  const go = followUrl(entries, hosts.length, status);
}

start();
