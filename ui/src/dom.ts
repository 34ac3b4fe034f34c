/** Creates elements without markup. Every text becomes a text node, so no measured text can become code. */

export type Child = Node | string | number | null | false | undefined;

type Attributes = Record<string, string | number | boolean | null | undefined>;

/** An HTML element with attributes and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element with attributes and children. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

/** `true` becomes an empty attribute; null, undefined and `false` become none. */
function filled<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    // The page's security policy blocks style attributes: use classes, or `style.setProperty`.
    if (name === 'style' || name.startsWith('on')) throw new Error(`no ${name} attributes`);
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, ...children);
  return element;
}

/** Appends nodes and texts; skips null, undefined and `false`. */
export function append(parent: Element, ...children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : String(child));
  }
}
