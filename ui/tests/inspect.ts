/** Checks that run inside a page. Each function is self-contained because Playwright serializes it. */

/** Texts with less contrast than WCAG AA requires, as `text: contrast (color on color)`. */
export function lowContrastTexts(): string[] {
  const context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  if (!context) throw new Error('no canvas');
  type Color = [number, number, number, number];
  const known = new Map<string, Color>();
  const colorOf = (text: string): Color => {
    let color = known.get(text);
    if (!color) {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = text;
      context.fillRect(0, 0, 1, 1);
      const [red = 0, green = 0, blue = 0, alpha = 0] = context.getImageData(0, 0, 1, 1).data;
      color = [red, green, blue, alpha / 255];
      known.set(text, color);
    }
    return color;
  };
  const over = (top: Color, below: Color): Color => {
    const mixed = ([0, 1, 2] as const).map((at) => top[at] * top[3] + below[at] * (1 - top[3]));
    return [mixed[0] ?? 0, mixed[1] ?? 0, mixed[2] ?? 0, 1];
  };
  const luminance = (color: Color): number => {
    const [red = 0, green = 0, blue = 0] = color.slice(0, 3).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const paintOf = (element: Element): Color => {
    const style = getComputedStyle(element);
    if (!(element instanceof SVGElement)) return colorOf(style.backgroundColor);
    if (element instanceof SVGSVGElement || element instanceof SVGTextContentElement) return [0, 0, 0, 0];
    if (style.fill === 'none' || style.fill.startsWith('url')) return [0, 0, 0, 0];
    const [red, green, blue, alpha] = colorOf(style.fill);
    return [red, green, blue, alpha * Number(style.fillOpacity) * Number(style.opacity)];
  };
  const behind = (element: Element): Color => {
    const layers: Color[] = [];
    if (element instanceof SVGElement) {
      const { left, top, width, height } = element.getBoundingClientRect();
      const [x, y] = [left + width / 2, top + height / 2];
      const marks = [...(element.closest('svg')?.querySelectorAll('rect, circle, path, polygon') ?? [])];
      for (const mark of marks.reverse()) {
        // Elements drawn after the text are not behind it.
        if (!(element.compareDocumentPosition(mark) & Node.DOCUMENT_POSITION_PRECEDING)) continue;
        const box = mark.getBoundingClientRect();
        if (box.left <= x && x <= box.right && box.top <= y && y <= box.bottom) layers.push(paintOf(mark));
      }
    }
    for (let one: Element | null = element.closest('svg') ?? element; one; one = one.parentElement) {
      layers.push(paintOf(one));
    }
    layers.push(colorOf('Canvas'));
    let color: Color = [255, 255, 255, 1];
    for (const layer of layers.reverse()) color = over(layer, color);
    return color;
  };
  const opacityOf = (element: Element): number => {
    let opacity = 1;
    for (let one: Element | null = element; one; one = one.parentElement) {
      opacity *= Number(getComputedStyle(one).opacity);
    }
    return opacity;
  };
  const pale: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set<Element>();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent?.trim() ?? '';
    if (!element || text === '' || seen.has(element) || !element.checkVisibility()) continue;
    seen.add(element);
    if (element.closest('[aria-hidden="true"], option, :disabled')) continue;
    const style = getComputedStyle(element);
    const own = colorOf(element instanceof SVGElement ? style.fill : style.color);
    const below = behind(element);
    const shown = over([own[0], own[1], own[2], own[3] * opacityOf(element)], below);
    const [dark = 0, light = 0] = [luminance(shown), luminance(below)].sort((a, b) => a - b);
    const contrast = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (contrast < (isLarge ? 3 : 4.5)) {
      const where = `${element.tagName}.${element.getAttribute('class') ?? ''}`;
      const colors = [shown, below].map((color) => color.slice(0, 3).map(Math.round).join(' '));
      pale.push(`${where} ${text.slice(0, 40)}: ${contrast.toFixed(2)} (${colors.join(' on ')})`);
    }
  }
  return pale;
}

/** Texts smaller than `least` pixels on the screen. */
export function smallTexts(least: number): string[] {
  const small: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent?.trim() ?? '';
    if (!element || text === '' || !element.checkVisibility()) continue;
    const scale = element instanceof SVGGraphicsElement ? (element.getScreenCTM()?.a ?? 1) : 1;
    const size = parseFloat(getComputedStyle(element).fontSize) * Math.abs(scale || 1);
    if (size < least - 0.01) small.push(`${element.tagName} ${text.slice(0, 40)}: ${size} px`);
  }
  return small;
}

/** Elements that overflow the window at the right, outside of scrolling or clipping containers. */
export function wideElements(): string[] {
  const wide: string[] = [];
  const width = document.documentElement.clientWidth;
  for (const element of document.body.querySelectorAll('*')) {
    if (!element.checkVisibility() || element.getBoundingClientRect().right <= width + 1) continue;
    let isHeld = false;
    for (let one = element.parentElement; one && one !== document.body; one = one.parentElement) {
      if (getComputedStyle(one).overflowX !== 'visible') isHeld = true;
    }
    if (!isHeld && wide.length < 5) {
      const { right } = element.getBoundingClientRect();
      wide.push(`${element.tagName}.${element.getAttribute('class') ?? ''} reaches to ${right}`);
    }
  }
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > width) wide.push(`the page scrolls to ${scrollWidth} of ${width}`);
  return wide;
}

/** Basic accessibility errors: names, heading order, ids, labels, table headers. */
export function inaccessible(): string[] {
  const errors: string[] = [];
  const shown = <E extends Element>(selector: string): E[] =>
    [...document.body.querySelectorAll<E>(selector)].filter((element) => element.checkVisibility());
  const describe = (element: Element): string =>
    `${element.tagName}.${element.getAttribute('class') ?? ''} ${element.textContent.slice(0, 40)}`;
  const nameOf = (element: Element): string => {
    const by = (element.getAttribute('aria-labelledby') ?? '').split(/\s+/).filter((id) => id !== '');
    const labeled = by.map((id) => document.getElementById(id)?.textContent ?? '').join(' ');
    const title = element.querySelector(':scope > title')?.textContent ?? '';
    const labels = 'labels' in element ? [...(element.labels as NodeListOf<Element>)] : [];
    const label = labels.map((one) => one.textContent).join(' ');
    return [labeled, element.getAttribute('aria-label'), label, title, element.getAttribute('title')]
      .join(' ')
      .trim();
  };
  for (const graphic of shown('img, svg, canvas')) {
    if (graphic.closest('[aria-hidden="true"]')) continue;
    const around = graphic.closest('[role="img"], [role="application"], [role="figure"]');
    if (nameOf(graphic) === '' && (!around || nameOf(around) === ''))
      errors.push(`no name: ${describe(graphic)}`);
  }
  for (const button of shown('button, a[href], summary, [role="tab"], [role="button"]')) {
    if (button.textContent.trim() === '' && nameOf(button) === '')
      errors.push(`no name: ${describe(button)}`);
  }
  for (const field of shown('select, input, textarea')) {
    if (nameOf(field) === '') errors.push(`no label: ${describe(field)}`);
  }
  let level = 0;
  for (const heading of shown('h1, h2, h3, h4, h5, h6')) {
    const next = Number(heading.tagName.slice(1));
    if (next > level + 1) errors.push(`heading of level ${next} after ${level}: ${describe(heading)}`);
    level = next;
  }
  if (shown('h1').length !== 1) errors.push(`${shown('h1').length} headings of level 1`);
  const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
  for (const id of new Set(ids.filter((one, at) => ids.indexOf(one) !== at)))
    errors.push(`duplicate id ${id}`);
  for (const name of ['aria-labelledby', 'aria-describedby', 'aria-controls', 'for']) {
    for (const element of document.querySelectorAll(`[${name}]`)) {
      for (const id of (element.getAttribute(name) ?? '').split(/\s+/)) {
        if (!document.getElementById(id)) errors.push(`${name} refers to the missing id ${id}`);
      }
    }
  }
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[href^="#"]')) {
    const id = decodeURIComponent(link.hash.slice(1));
    if (!document.getElementById(id)) errors.push(`link to the missing id ${id}`);
  }
  for (const head of shown('th')) {
    if (!head.hasAttribute('scope')) errors.push(`table header without scope: ${describe(head)}`);
  }
  for (const landmark of ['main', 'nav']) {
    if (shown(landmark).length === 0) errors.push(`no ${landmark}`);
  }
  if (document.documentElement.lang !== 'en') errors.push('no language');
  if (document.title === '') errors.push('no title');
  return errors;
}
