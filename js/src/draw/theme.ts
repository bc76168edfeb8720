/** Light or dark: the host's theme, or the reader's choice. */

import type { Theme } from "../wire/types";

export type Shade = "light" | "dark";

/** Attributes that hosts set on their page: JupyterLab and Notebook, VS Code, Colab, marimo. */
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

/** The shade for a theme. */
export function shadeFor(theme: Theme): Shade {
  if (theme !== "auto") return theme;
  const places = [document.body, document.documentElement];
  const mark = MARKS.find(([selector]) => places.some((place) => place.matches(selector)));
  return mark?.[1] ?? (darkPreference().matches ? "dark" : "light");
}

/** Call a function whenever the host may have changed its theme. */
export function watchHost(changed: () => void, signal: AbortSignal): void {
  darkPreference().addEventListener("change", changed, { signal });
  // JupyterLab hides its page while it changes the theme; in the next frame it is visible again.
  const observer = new MutationObserver(() => requestAnimationFrame(changed));
  const attributeFilter = ["class", "data-jp-theme-light", "theme"];
  observer.observe(document.body, { attributes: true, attributeFilter });
  observer.observe(document.documentElement, { attributes: true, attributeFilter });
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
}

function darkPreference(): MediaQueryList {
  return window.matchMedia("(prefers-color-scheme: dark)");
}
