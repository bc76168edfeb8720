/** Imports go downwards: entry, app, views or export, words, data, state or draw, math, wire. */

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const SOURCE = resolve(import.meta.dirname, "../../src");

/** From top to bottom; folders of one level may not import each other. */
const LEVELS = [
  ["entry"],
  ["app"],
  ["views", "export"],
  ["words"],
  ["data"],
  ["state", "draw"],
  ["math"],
  ["wire"],
];

/** What every view may import from `views/`, besides its own folder. */
const SHARED_VIEWS = ["views/shared", "views/view"];

/** Why one module may not import another; null if it may. Paths are relative to `src/`. */
function violation(importer: string, imported: string): string | null {
  const [from, to] = [importer, imported].map((path) => path.split("/"));
  if (imported.endsWith(".css")) return null;
  const [upper, lower] = [from[0], to[0]].map((folder) =>
    LEVELS.findIndex((level) => level.includes(folder)),
  );
  if (upper < 0 || lower < 0) return `${importer} -> ${imported}: the folder has no level`;
  if (from[0] !== to[0]) return upper < lower ? null : `${importer} -> ${imported}`;
  if (from[0] !== "views" || importer === "views/index") return null;
  const isOwn = from.length > 2 && from[1] === to[1];
  const isShared = SHARED_VIEWS.some(
    (path) => imported === path || imported.startsWith(`${path}/`),
  );
  return isOwn || isShared ? null : `${importer} -> ${imported}`;
}

/** The modules that a file imports, relative to `src/`. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(SOURCE, file), "utf-8");
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)];
  return specifiers.map(([, path]) => relative(SOURCE, resolve(SOURCE, dirname(file), path)));
}

const FILES = readdirSync(SOURCE, { recursive: true, encoding: "utf-8" }).filter(
  (file) => file.endsWith(".ts") && !file.endsWith(".d.ts"),
);

describe("imports between folders", () => {
  test("go downwards in every file", () => {
    const found = FILES.flatMap((file) =>
      importsOf(file).map((imported) => violation(file.replace(/\.ts$/, ""), imported)),
    );
    expect(found.length).toBeGreaterThan(400);
    expect(found.filter((problem) => problem !== null)).toEqual([]);
  });

  test.each([
    ["views/matrix/view", "views/flow/view"],
    ["views/shared/time", "views/alignment/data"],
    ["words/rankChanges", "views/view"],
    ["export/save", "app/panes"],
    ["export/save", "views/view"],
    ["draw/theme", "state/signal"],
    ["math/rows", "data/layer"],
    ["wire/types", "math/rows"],
    ["views/view", "views/flow/view"],
    ["help/me", "wire/types"],
  ])("may not go from %s to %s", (importer, imported) => {
    expect(violation(importer, imported)).toContain(`${importer} -> ${imported}`);
  });

  test.each([
    ["entry/page", "app/mount"],
    ["app/mount", "wire/types"],
    ["views/index", "views/flow/view"],
    ["views/flow/view", "views/shared/paint"],
    ["views/flow/view", "views/view"],
    ["views/flow/view", "views/flow/morph"],
    ["views/shared/tokens", "views/view"],
    ["export/walk", "export/lines"],
    ["data/stack", "draw/colors"],
  ])("may go from %s to %s", (importer, imported) => {
    expect(violation(importer, imported)).toBeNull();
  });
});
