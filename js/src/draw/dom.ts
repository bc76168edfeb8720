/** Elements, made without ever parsing text as markup. */

type Attributes = Record<string, string>;

/** An element with attributes and children; strings become text. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A button that does one thing, for as long as its view lives. */
export function button(
  label: string,
  title: string,
  press: () => void,
  signal: AbortSignal,
): HTMLButtonElement {
  const made = element("button", { type: "button", title, "aria-label": title }, label);
  made.addEventListener("click", press, { signal });
  return made;
}

/** A choice among a few, with its name beside it. */
export function picker(name: string, choose: (value: string) => void, signal: AbortSignal) {
  const select = element("select", { "aria-label": name });
  select.addEventListener("change", () => choose(select.value), { signal });
  const told = document.createTextNode(`${name} `);
  const rename = (other: string): void => {
    told.data = `${other} `;
    select.setAttribute("aria-label", other);
  };
  return { select, node: element("label", { class: "nv-picker" }, told, select), rename };
}

type Options = [value: string, text: string][];

/** Fill a select with options, keeping it as it is when they are the same. */
export function options(select: HTMLSelectElement, wanted: Options): void {
  grouped(select, [["", wanted]]);
}

/** Fill a select with groups of options; those of a group without a name stand alone. */
export function grouped(
  select: HTMLSelectElement,
  groups: [name: string, options: Options][],
): void {
  const wanted = JSON.stringify(groups);
  if (select.dataset.filled === wanted) return;
  select.dataset.filled = wanted;
  const made = ([value, text]: Options[number]) => element("option", { value }, text);
  const children = groups
    .filter(([, inside]) => inside.length > 0)
    .flatMap(([label, inside]) =>
      label ? [element("optgroup", { label }, ...inside.map(made))] : inside.map(made),
    );
  select.replaceChildren(...children);
}

/** A token as a reader can see it, even if it is empty or only space. */
export function visible(piece: string): string {
  if (piece === "") return "∅";
  if (piece.trim() !== "") return piece.replace(/\s+/g, " ");
  return piece.replace(/\n/g, "↵").replace(/\t/g, "⇥").replace(/\s/g, "␣");
}

/** A sentence in place of a picture. */
export function notice(text: string): HTMLElement {
  return element("p", { class: "nv-notice", role: "alert" }, text);
}

/** A group of buttons that stays in place while its options are the same. */
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

/** Show which of the buttons are pressed. */
export function press(buttons: HTMLElement[], isOn: (index: number) => boolean): void {
  buttons.forEach((made, index) => {
    made.setAttribute("aria-pressed", String(isOn(index)));
  });
}
