/** A view in the address of its page: all that differs from the page's own first choice. */

import {
  CHOICES,
  type Choice,
  COLORS,
  type Header,
  OTHER,
  SETTINGS,
  type Stream,
} from "../wire/types";
import { heldAs, offered, streamOf } from "./pane";
import { same } from "./signal";
import { count, Store } from "./store";

type Name = keyof Choice;

export interface Read {
  choice: Choice;
  /** What the address says and this page does not understand, as it was written. */
  problems: string[];
}

/** The words that may be chosen from, where they do not depend on the flow. */
const WORDS = {
  side: ["query", "key"],
  normalize: ["absolute", "layer", "query"],
  special: ["shown", "dimmed", "hidden"],
  color: COLORS,
  setting: SETTINGS,
  theme: ["auto", "light", "dark"],
} as const satisfies { [name in Name]?: readonly Choice[name][] };

/** How a choice of nothing, or of everything, is written. */
const NONE = "none";
const ALL = "all";

/** The longest piece of an address that is quoted. */
const QUOTED = 40;

/** The choice that an address asks for; on a page of several flows each has a number. */
export function read(
  hash: string,
  header: Header,
  first: Choice,
  flow: number | null = null,
): Read {
  const wanted = wantedIn(hash, flow);
  const changes: Partial<Record<Name, unknown>> = {};
  const problems: string[] = [];
  // What the others may be depends on the stream and the side.
  for (const name of new Set<string>(["stream", "side", ...wanted.keys()])) {
    const text = wanted.get(name);
    if (text === undefined) continue;
    const choice = { ...first, ...changes } as Choice;
    const value = isName(name) ? valueIn(name, text, header, choice) : undefined;
    if (value === undefined) problems.push(quoted(`${prefix(flow)}${name}`, text));
    else if (isName(name)) changes[name] = value;
  }
  const store = new Store(header, first);
  store.choose(changes as Partial<Choice>);
  return { choice: store.choice.value, problems };
}

/** What is chosen otherwise than at first, as it is written after the # of an address. */
export function write(choice: Choice, first: Choice, flow: number | null = null): string {
  return CHOICES.filter((name) => !same(choice[name], first[name]))
    .map((name) => `${prefix(flow)}${name}=${encoded(textOf(name, choice))}`)
    .join("&");
}

/** What belongs to none of so many numbered flows, but for `flow`, the one to go to. */
export function strays(hash: string, flows: number): string[] {
  return entries(hash)
    .filter(([name, text]) => {
      const number = Number(/^([1-9]\d*)\./.exec(name)?.[1] ?? (name === "flow" ? text : 0));
      return !(Number.isInteger(number) && number >= 1 && number <= flows);
    })
    .map(([name, text]) => quoted(name, text));
}

/** The flow that an address goes to, by its number. */
export function goal(hash: string): number | null {
  const text = entries(hash).find(([name]) => name === "flow")?.[1] ?? "";
  return /^\d+$/.test(text) ? Number(text) : null;
}

function entries(hash: string): [name: string, text: string][] {
  return [...new URLSearchParams(hash.replace(/^#/, ""))];
}

function wantedIn(hash: string, flow: number | null): Map<string, string> {
  const start = prefix(flow);
  const own = entries(hash).filter(([name]) => name.startsWith(start));
  return new Map(own.map(([name, text]) => [name.slice(start.length), text]));
}

function prefix(flow: number | null): string {
  return flow === null ? "" : `${flow}.`;
}

function isName(name: string): name is Name {
  return (CHOICES as readonly string[]).includes(name);
}

/** A part of an address as it was written, or its beginning. */
function quoted(name: string, text: string): string {
  const part = text === "" ? name : `${name}=${text}`;
  return part.length > QUOTED ? `${part.slice(0, QUOTED)}…` : part;
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(/%2C/g, ",").replace(/%3A/g, ":");
}

function textOf(name: Name, choice: Choice): string {
  const value = choice[name];
  if (name === "heads") return choice.heads?.join(",") ?? ALL;
  return value === null ? NONE : String(value);
}

/** A value as it was written; undefined where this flow has nothing of that name. */
function valueIn(name: Name, text: string, header: Header, choice: Choice): unknown {
  if (name in WORDS) return among(WORDS[name as keyof typeof WORDS], text);
  const [flow] = header.flows;
  if (name === "view") return among(offered(flow), text);
  if (name === "stream") return flow.streams.find((stream) => stream.name === text)?.name;
  const stream = streamOf(flow, choice.stream);
  switch (name) {
    case "measure":
      return among(stream.measures, heldAs(stream, text));
    case "compare":
      return comparedWith(text, stream, header);
    case "layer":
      return among(stream.layers, numberIn(text));
    case "heads":
      return headsIn(text, stream);
    case "token":
      return tokenIn(text, count(stream, choice.side));
    case "words":
      return text === "true" ? true : text === "false" ? false : undefined;
    default:
      return thresholdIn(text);
  }
}

function among<T>(values: readonly T[], wanted: unknown): T | undefined {
  return values.find((value) => value === wanted);
}

function numberIn(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

function comparedWith(text: string, stream: Stream, { flows }: Header): unknown {
  const { measures, layers } = stream;
  if (text === NONE) return null;
  if (text === OTHER) return flows.length > 1 ? OTHER : undefined;
  return among<string | number>(measures, heldAs(stream, text)) ?? among(layers, numberIn(text));
}

function headsIn(text: string, { heads }: Stream): number[] | null | undefined {
  if (text === ALL) return null;
  const wanted = [...new Set(text.split(",").map(numberIn))];
  return wanted.every((head) => heads.includes(head)) ? wanted : undefined;
}

function tokenIn(text: string, tokens: number): number | null | undefined {
  if (text === NONE) return null;
  const token = numberIn(text);
  return token < tokens ? token : undefined;
}

function thresholdIn(text: string): number | undefined {
  const part = text.trim() === "" ? Number.NaN : Number(text);
  return part >= 0 && part <= 1 ? part : undefined;
}
