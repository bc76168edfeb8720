/** Light or dark, as the host is or as the reader wants. */

import type { Theme } from "../wire/types";

export type Shade = "light" | "dark";

/** What hosts set on their page: JupyterLab and Notebook, VS Code, Colab, marimo. */
const MARKS: [selector: string, shade: Shade][] = [
  ["[data-jp-theme-light='false']", "dark"],
  ["[data-jp-theme-light='true']", "light"],
  [".vscode-dark, .vscode-high-contrast:not(.vscode-high-contrast-light)", "dark"],
  [".vscode-light, .vscode-high-contrast-light", "light"],
  ["html[theme='dark']", "dark"],
  ["html[theme='light']", "light"],
  [".dark, .dark-theme", "dark"],
  [".light, .light-theme", "light"],
];

/** The shade to draw in. */
export function shadeFor(theme: Theme): Shade {
  if (theme !== "auto") return theme;
  const places = [document.body, document.documentElement];
  const mark = MARKS.find(([selector]) => places.some((place) => place.matches(selector)));
  return mark?.[1] ?? (preference().matches ? "dark" : "light");
}

/** Call back whenever the host may have changed its shade. */
export function watchHost(changed: () => void, signal: AbortSignal): void {
  preference().addEventListener("change", changed, { signal });
  // JupyterLab hides its page while it changes; by the next frame there is room to draw in.
  const observer = new MutationObserver(() => requestAnimationFrame(changed));
  const attributeFilter = ["class", "data-jp-theme-light", "theme"];
  observer.observe(document.body, { attributes: true, attributeFilter });
  observer.observe(document.documentElement, { attributes: true, attributeFilter });
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
}

function preference(): MediaQueryList {
  return window.matchMedia("(prefers-color-scheme: dark)");
}
