// Bundles the view twice: as a module for the notebook, and as a script for the one-file page.
import { context } from "esbuild";

const watching = process.argv.includes("--watch");

/** What both bundles share: one file each, nothing fetched at run time. */
const shared = {
  bundle: true,
  target: "es2022",
  minify: true,
  charset: "ascii",
  outdir: "../normviz/static",
  logLevel: "info",
  sourcemap: watching ? "inline" : false,
};

const bundles = [
  { ...shared, entryPoints: { widget: "src/entry/widget.ts" }, format: "esm" },
  { ...shared, entryPoints: { standalone: "src/entry/page.ts" }, format: "iife" },
];

for (const options of bundles) {
  const bundle = await context(options);
  if (watching) await bundle.watch();
  else await bundle.rebuild().finally(() => bundle.dispose());
}
