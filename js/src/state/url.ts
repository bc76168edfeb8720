/** The view's state in the URL of its page: everything that differs from the page's first state. */

import { type Header, OTHER_FLOW, STATE_KEYS, type Stream, type ViewState } from "../wire/types";
import { canonicalId, shownStreams, streamOf, viewsOf } from "./pane";
import { isEqual } from "./signal";
import { Store, tokenCount } from "./store";

type StateKey = keyof ViewState;

export interface HashResult {
  state: ViewState;
  /** The parts of the URL that mean nothing on this page, as written. */
  problems: string[];
}

/** How null and "all heads" are written. */
const NONE = "none";
const ALL = "all";

/** The longest part of a URL that is quoted in full. */
const MAX_QUOTED = 40;

/** The state that a URL asks for; on a page of several flows, each flow has a number. */
export function readHash(
  hash: string,
  header: Header,
  first: ViewState,
  flow: number | null = null,
): HashResult {
  const texts = textsIn(hash, flow);
  const changes: Partial<Record<StateKey, unknown>> = {};
  const problems: string[] = [];
  // Stream and role come first: they decide which other values are allowed.
  for (const key of new Set<string>(["stream", "role", ...texts.keys()])) {
    const text = texts.get(key);
    if (text === undefined) continue;
    const state = { ...first, ...changes } as ViewState;
    const value = isStateKey(key) ? valueIn(key, text, header, state) : undefined;
    if (value === undefined) problems.push(quotePart(`${prefix(flow)}${key}`, text));
    else if (isStateKey(key)) changes[key] = value;
  }
  const store = new Store(header, first);
  store.choose(changes as Partial<ViewState>);
  return { state: store.state.value, problems };
}

/** Everything that differs from the first state, as written after the # of a URL. */
export function writeHash(state: ViewState, first: ViewState, flow: number | null = null): string {
  return STATE_KEYS.filter((key) => !isEqual(state[key], first[key]))
    .map((key) => `${prefix(flow)}${key}=${encodeText(textOf(key, state))}`)
    .join("&");
}

/** The parts of a URL that belong to none of the numbered flows, except a valid `flow`. */
export function unknownParts(hash: string, flows: number): string[] {
  return entries(hash)
    .filter(([name, text]) => {
      const number = Number(/^([1-9]\d*)\./.exec(name)?.[1] ?? (name === "flow" ? text : 0));
      return !(Number.isInteger(number) && number >= 1 && number <= flows);
    })
    .map(([name, text]) => quotePart(name, text));
}

/** The number of the flow that a URL scrolls to. */
export function targetFlow(hash: string): number | null {
  const text = entries(hash).find(([name]) => name === "flow")?.[1] ?? "";
  return /^\d+$/.test(text) ? Number(text) : null;
}

function entries(hash: string): [name: string, text: string][] {
  return [...new URLSearchParams(hash.replace(/^#/, ""))];
}

function textsIn(hash: string, flow: number | null): Map<string, string> {
  const start = prefix(flow);
  const own = entries(hash).filter(([name]) => name.startsWith(start));
  return new Map(own.map(([name, text]) => [name.slice(start.length), text]));
}

function prefix(flow: number | null): string {
  return flow === null ? "" : `${flow}.`;
}

function isStateKey(name: string): name is StateKey {
  return (STATE_KEYS as readonly string[]).includes(name);
}

/** A part of a URL as written, or its beginning. */
function quotePart(name: string, text: string): string {
  const part = text === "" ? name : `${name}=${text}`;
  return part.length > MAX_QUOTED ? `${part.slice(0, MAX_QUOTED)}…` : part;
}

function encodeText(text: string): string {
  return encodeURIComponent(text).replace(/%2C/g, ",").replace(/%3A/g, ":");
}

function textOf(key: StateKey, state: ViewState): string {
  const value = state[key];
  if (key === "heads") return state.heads?.join(",") ?? ALL;
  return value === null ? NONE : String(value);
}

/** The value that a text stands for; undefined if this flow has no such value. */
function valueIn(key: StateKey, text: string, header: Header, state: ViewState): unknown {
  const [flow] = header.flows;
  if (key === "stream") return shownStreams(header).find(({ name }) => name === text)?.name;
  const stream = streamOf(flow, state.stream);
  switch (key) {
    case "view":
      return memberOf(viewsOf(header), text);
    case "measure":
      return memberOf(stream.measures, canonicalId(stream, text));
    case "compare":
      return compareIn(text, stream, header);
    case "layer":
      return memberOf(stream.layers, numberIn(text));
    case "heads":
      return headsIn(text, stream);
    case "token":
      return tokenIn(text, tokenCount(stream, state.role));
    case "words":
    case "difference":
      return text === "true" ? true : text === "false" ? false : undefined;
    case "threshold":
      return thresholdIn(text);
    default:
      return memberOf<string>(header.state.allowed[key], text);
  }
}

function memberOf<T>(values: readonly T[], value: unknown): T | undefined {
  return values.find((member) => member === value);
}

function numberIn(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

function compareIn(text: string, stream: Stream, { flows }: Header): unknown {
  const { measures, layers } = stream;
  if (text === NONE) return null;
  if (text === OTHER_FLOW) return flows.length > 1 ? OTHER_FLOW : undefined;
  const measure = memberOf<string | number>(measures, canonicalId(stream, text));
  return measure ?? memberOf(layers, numberIn(text));
}

function headsIn(text: string, stream: Stream): number[] | null | undefined {
  if (text === ALL) return null;
  const heads = [...new Set(text.split(",").map(numberIn))];
  return heads.every((head) => stream.heads.includes(head)) ? heads : undefined;
}

function tokenIn(text: string, tokens: number): number | null | undefined {
  if (text === NONE) return null;
  const token = numberIn(text);
  return token < tokens ? token : undefined;
}

function thresholdIn(text: string): number | undefined {
  const fraction = text.trim() === "" ? Number.NaN : Number(text);
  return fraction >= 0 && fraction <= 1 ? fraction : undefined;
}
