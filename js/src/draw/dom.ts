/** DOM elements, created without parsing text as markup. */

type Attributes = Record<string, string>;

/** An element with attributes and children; strings become text nodes. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** A button that is active until the signal is aborted; a symbol is named by its title. */
export function button(
  label: string,
  title: string,
  press: () => void,
  signal: AbortSignal,
): HTMLButtonElement {
  const node = element("button", { type: "button", title }, label);
  if (!/[\p{L}\p{N}]/u.test(label)) node.setAttribute("aria-label", title);
  node.addEventListener("click", press, { signal });
  return node;
}

/** A labeled list. */
export function picker(name: string, choose: (value: string) => void, signal: AbortSignal) {
  const select = element("select", { "aria-label": name });
  select.addEventListener("change", () => choose(select.value), { signal });
  const caption = document.createTextNode(`${name} `);
  const rename = (other: string): void => {
    caption.data = `${other} `;
    select.setAttribute("aria-label", other);
  };
  return { select, node: element("label", { class: "nv-picker" }, caption, select), rename };
}

/** An entry of a list. */
type Option = [value: string, text: string];

/** Fill a list with options, unless they are unchanged. */
export function fillOptions(select: HTMLSelectElement, options: Option[]): void {
  fillGroups(select, [["", options]]);
}

/** Fill a list with groups of options; a group without a name has no heading. */
export function fillGroups(
  select: HTMLSelectElement,
  groups: [name: string, options: Option[]][],
): void {
  const key = JSON.stringify(groups);
  if (select.dataset.filled === key) return;
  select.dataset.filled = key;
  const optionOf = ([value, text]: Option) => element("option", { value }, text);
  const children = groups
    .filter(([, inside]) => inside.length > 0)
    .flatMap(([label, inside]) =>
      label ? [element("optgroup", { label }, ...inside.map(optionOf))] : inside.map(optionOf),
    );
  select.replaceChildren(...children);
}

/** A token as visible text, even if it is empty or only whitespace. */
export function visibleText(piece: string): string {
  if (piece === "") return "∅";
  if (piece.trim() !== "") return piece.replace(/\s+/g, " ");
  return piece.replace(/\n/g, "↵").replace(/\t/g, "⇥").replace(/\s/g, "␣");
}

/** An error message above a view. */
export function notice(text: string): HTMLElement {
  return element("p", { class: "nv-notice", role: "alert" }, text);
}

/** A group of buttons that is rebuilt only if its key changes. */
export function group(name: string, style: string) {
  const node = element("div", { class: `nv-group ${style}`, role: "group", "aria-label": name });
  let built = "";
  const fill = (key: string, make: () => HTMLElement[]): HTMLElement[] => {
    if (key !== built) node.replaceChildren(...make());
    built = key;
    return [...node.children] as HTMLElement[];
  };
  return { node, fill };
}

/** A group that is one stop of the Tab key; the left and right arrows move inside it. */
export function toolbar(name: string, style: string, signal: AbortSignal) {
  const made = group(name, style);
  const { node } = made;
  node.setAttribute("role", "toolbar");
  const move = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const buttons = [...node.querySelectorAll<HTMLButtonElement>("button:not(:disabled)")];
    const at = buttons.indexOf(event.target as HTMLButtonElement) + by;
    buttons[Math.min(buttons.length - 1, Math.max(0, at))]?.focus();
  };
  node.addEventListener("keydown", move, { signal });
  return made;
}

/** Mark which buttons are pressed; in a toolbar, the first of them is the stop of the Tab key. */
export function markPressed(buttons: HTMLElement[], isOn: (index: number) => boolean): void {
  const stop = Math.max(
    0,
    buttons.findIndex((_, index) => isOn(index)),
  );
  buttons.forEach((made, index) => {
    made.setAttribute("aria-pressed", String(isOn(index)));
    const isInside = made.parentElement?.getAttribute("role") === "toolbar";
    if (isInside) made.tabIndex = index === stop ? 0 : -1;
  });
}
