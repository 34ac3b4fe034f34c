/** A picture with its title, unit and n, drawn when it comes into sight and whenever its width or the colours change. */

import { broken } from './broken';
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

const redraws = new WeakMap<Element, () => void>();

/** Draws a card again if it has been drawn, such as when a choice has changed. */
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
  drawnWhenSeen(host, figure, options.draw);
  return figure;
}

function drawnWhenSeen(host: HTMLElement, figure: HTMLElement, draw: Card['draw']): void {
  let isSeen = false;
  /** What it has been drawn for; 0 where that is out of date. */
  let width = 0;
  const fit = (): void => {
    const now = host.clientWidth;
    // What is hidden is drawn when it comes back.
    if (!isSeen || now === 0 || now === width) return;
    width = now;
    host.replaceChildren();
    try {
      draw(host, now);
    } catch (error) {
      host.replaceChildren(broken(error));
    }
  };
  const again = (): void => {
    width = 0;
    fit();
  };
  redraws.set(figure, again);
  new IntersectionObserver(
    (entries, observer) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      isSeen = true;
      fit();
    },
    { rootMargin: '300px' },
  ).observe(host);
  new ResizeObserver(fit).observe(host);
  onTheme(() => {
    isSeen ||= isOnPaper();
    again();
  });
}
