/** A picture with its title, unit and n, drawn when it comes into sight and whenever its width or the colours change. */

import { h } from './dom';
import { isOnPaper, onTheme } from './theme';
import { numbers, type Numbers } from './numbers';

export interface Card {
  /** For links and tests. */
  id: string;
  title: string;
  /** Unit, axis and n: no picture without them. Such as `ms, log axis · n = 10,759 requests in 6 runs`. */
  about: string;
  /** How to read it, in a sentence or two. */
  help?: string;
  /** Buttons and lists that change what is drawn. */
  controls?: Node[];
  /** Draws into an empty host of this width in CSS pixels. */
  draw: (host: HTMLElement, width: number) => void;
  /** The same as figures, for those who cannot see it, or want to copy them. */
  numbers?: () => Numbers;
}

/** Draws again every card that has been drawn, such as when a choice has changed. */
const redraws = new WeakMap<Element, () => void>();

export function redraw(card: Element): void {
  redraws.get(card)?.();
}

export function card(options: Card): HTMLElement {
  const host = h('div', { class: 'drawing' });
  const figure = h(
    'figure',
    { class: 'card', id: options.id },
    h(
      'figcaption',
      {},
      h('h3', {}, options.title),
      h('p', { class: 'about' }, options.about),
      options.help ? h('p', { class: 'help' }, options.help) : null,
    ),
    options.controls ? h('div', { class: 'controls' }, ...options.controls) : null,
    host,
    options.numbers ? numbers(options.title, options.numbers) : null,
  );
  let width = 0;
  const draw = (): void => {
    const now = host.clientWidth;
    if (now === 0) return;
    width = now;
    host.replaceChildren();
    options.draw(host, now);
  };
  redraws.set(figure, () => {
    if (width > 0) draw();
  });
  whenSeen(host, draw, () => width > 0 && host.clientWidth !== width);
  return figure;
}

function whenSeen(host: HTMLElement, draw: () => void, isStale: () => boolean): void {
  let seen = false;
  const first = (): void => {
    if (seen || host.clientWidth === 0) return;
    seen = true;
    draw();
  };
  new IntersectionObserver(
    (entries, observer) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      first();
    },
    { rootMargin: '300px' },
  ).observe(host);
  new ResizeObserver(() => {
    if (seen && isStale()) draw();
  }).observe(host);
  onTheme(() => {
    if (seen) draw();
    else if (isOnPaper()) first();
  });
}
