/** The one-file page's door: finds the flows written into the page and shows them. */

import { mount } from "../app/mount";
import { report } from "../app/report";
import { element, notice } from "../draw/dom";
import { shadeFor, watchHost } from "../draw/theme";
import { Store } from "../state/store";
import { Tiles } from "../state/tiles";
import { goal, read, strays, write } from "../state/url";
import { keeper } from "../state/urlSync";
import type { Choice, Header, Report } from "../wire/types";

/** One flow of the page, and its number if there are several. */
interface Entry {
  host: HTMLElement;
  number: number | null;
  store: Store;
  first: Choice;
  packed: string;
  /** Shows it, once; a failure shows as a sentence. */
  open(): Promise<void>;
}

const always = new AbortController().signal;

/** The flow that an element carries as two blocks of data, not yet shown. */
function entry(host: HTMLElement, number: number | null): Entry {
  const [about, packed] = [...host.querySelectorAll("script")].map((block) => block.text);
  const { header, choice } = JSON.parse(about) as { header: Header; choice: Choice };
  const store = new Store(header, choice);
  store.choose({}); // what a choice of everything is called differs between Python and here
  const made = { host, number, store, first: store.choice.value, packed };
  let opened: Promise<void> | null = null;
  const open = (): Promise<void> => {
    opened ??= show(made).catch((reason: unknown) => refuse(host, reason));
    return opened;
  };
  return { ...made, open };
}

function refuse(host: HTMLElement, reason: unknown): void {
  host.append(notice(`The picture could not be drawn. ${String(reason)}`));
}

async function show({ host, store, packed, number }: Omit<Entry, "open">): Promise<void> {
  const tiles = new Tiles(store.header.tiles, await unpacked(packed));
  const root = element("div");
  host.append(root);
  host.style.minHeight = "";
  mount(root, store, tiles, always);
  // A page with one view is that view, so its keys work at once; in a frame it has company.
  if (number === null && window.parent === window) root.focus({ preventScroll: true });
}

/** Bytes from base64 and gzip, with nothing but what the browser has. */
async function unpacked(packed: string): Promise<DataView> {
  const stream = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new DataView(await new Response(stream).arrayBuffer());
}

/** Bytes from base64: by the browser itself, several times faster, or where it cannot by hand. */
function bytesOf(packed: string): Uint8Array<ArrayBuffer> {
  const own = Uint8Array as { fromBase64?: (letters: string) => Uint8Array<ArrayBuffer> };
  if (own.fromBase64) return own.fromBase64(packed);
  const letters = atob(packed);
  const bytes = new Uint8Array(letters.length);
  // A plain loop: Uint8Array.from takes seconds for the letters of a large file.
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

/** Every flow of the page that can be read; the others say why not. */
function entriesIn(hosts: HTMLElement[]): Entry[] {
  return hosts.flatMap((host, index) => {
    try {
      return [entry(host, hosts.length > 1 ? index + 1 : null)];
    } catch (reason) {
      refuse(host, reason);
      return [];
    }
  });
}

/** Show what the address asks for, and let the address follow what is chosen. */
function route(entries: Entry[], count: number, told: HTMLElement): (number: number) => void {
  let aim: number | null = null;
  const follow = (): void => {
    const { hash } = location;
    const aimed = entries.find(({ number }) => number !== null && number === goal(hash));
    aim = aimed?.number ?? null;
    const problems = count > 1 ? strays(hash, count) : [];
    for (const { store, first, number } of entries) {
      const found = read(hash, store.header, first, number);
      store.choose(found.choice);
      problems.push(...found.problems);
    }
    told.textContent = sentence(problems);
    if (aimed) goTo(aimed.host);
  };
  follow();
  const keep = keeper(() => {
    const parts = entries.map(({ store, first, number }) =>
      write(store.choice.value, first, number),
    );
    return [aim === null ? "" : `flow=${aim}`, ...parts].filter((part) => part !== "").join("&");
  });
  const chosen = (): void => {
    told.textContent = "";
    keep();
  };
  for (const { store } of entries) store.choice.watch(chosen, always);
  window.addEventListener("hashchange", follow);
  return (number) => {
    aim = number;
    keep();
  };
}

/** What the address says and the page does not understand. */
function sentence(problems: string[]): string {
  if (problems.length === 0) return "";
  const [several, are] = problems.length > 1 ? ["these parts", "are"] : ["this part", "is"];
  return `The page has nothing for ${several} of its address, which ${are} left out: ${problems.join(", ")}.`;
}

/** How long flows that are drawn above another may push it away, in milliseconds. */
const SETTLING = 1500;

/** Go to a flow, and stay there while those around it take their room, unless the reader acts. */
function goTo(host: HTMLElement): void {
  const settled = new AbortController();
  const observer = new ResizeObserver(() => host.scrollIntoView());
  const { style } = document.documentElement;
  const leave = (): void => {
    observer.disconnect();
    settled.abort();
    style.overflowAnchor = "";
  };
  style.overflowAnchor = "none"; // the browser would move what is in place already
  host.scrollIntoView();
  observer.observe(document.body);
  for (const act of ["wheel", "pointerdown", "keydown", "hashchange"]) {
    window.addEventListener(act, leave, { passive: true, signal: settled.signal });
  }
  setTimeout(leave, SETTLING);
}

/** A list of the flows; each entry goes to its flow. */
function index(entries: Entry[], go: (number: number) => void): HTMLElement {
  const items = entries.map(({ host, number, store, open }) => {
    const { model, title } = store.flow;
    const text = element("span", { dir: "auto" }, title);
    const link = element("a", { href: `#flow=${number}` }, element("b", {}, model), " ", text);
    const clicked = async (event: Event): Promise<void> => {
      event.preventDefault(); // in a frame the address would be another page's
      goTo(host);
      go(number ?? 1);
      await open();
      host.querySelector<HTMLElement>(".normviz")?.focus({ preventScroll: true });
    };
    link.addEventListener("click", clicked);
    return element("li", {}, link);
  });
  return element("nav", { "aria-label": "flows on this page" }, element("ol", {}, ...items));
}

/** Open each flow when it comes near to what can be seen. */
function openInTurn(entries: Entry[]): void {
  const byHost = new Map(entries.map((one) => [one.host as Element, one]));
  const observer = new IntersectionObserver(
    (seen) => {
      for (const { target, isIntersecting } of seen) {
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

/** About how tall a view will be, so that the page is as long as if it were there. */
function heightOf({ stream }: Store): number {
  const tokens = Math.max(stream.queries.pieces.length, stream.keys.pieces.length);
  return 260 + Math.min(690, Math.max(10, tokens) * 20);
}

/** Show the charts that an element carries as a block of data. */
function openReport(host: HTMLElement): void {
  try {
    const about = JSON.parse(host.querySelector("script")?.text ?? "") as Report;
    const root = element("div");
    host.append(root);
    report(root, about, always);
    if (window.parent === window) root.focus({ preventScroll: true });
  } catch (reason) {
    refuse(host, reason);
  }
}

function start(): void {
  const every = [...document.querySelectorAll<HTMLElement>(".normviz-snapshot")];
  const isReport = (host: HTMLElement) => host.matches(".normviz-report");
  every.filter(isReport).forEach(openReport);
  const hosts = every.filter((host) => !isReport(host));
  const entries = entriesIn(hosts);
  const told = element("p", { class: "normviz-told", role: "status" });
  const head = element("header", { class: "normviz-head" });
  const color = (): void => {
    head.dataset.shade = told.dataset.shade = shadeFor("auto");
  };
  color();
  watchHost(color, always);
  every[0]?.before(told);
  if (hosts.length === 0) return;
  if (hosts.length === 1) {
    route(entries, 1, told);
    void entries[0]?.open();
    return;
  }
  openInTurn(entries);
  const list = index(entries, (number) => go(number));
  head.append(list);
  told.before(head);
  const go = route(entries, hosts.length, told);
}

start();
