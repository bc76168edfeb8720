/** Elements of SVG, made without ever parsing text as markup. */

const SPACE = "http://www.w3.org/2000/svg";

/** An element of SVG with attributes and children; numbers are written as they are. */
export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, string | number> = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[Tag] {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}
