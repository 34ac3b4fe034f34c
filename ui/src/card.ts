/** A chart with its title, unit, and n. Redrawn whenever its width or the colors change. */

import { failure } from './guarded';
import { h } from './dom';
import { whenIdle } from './idle';
import { isPrinting, onRedraw } from './theme';
import { numbers, type Numbers } from './numbers';

export interface Card {
  /** Used by links and tests. */
  id: string;
  title: string;
  /** Unit, axis, and n, required for every chart: `ms, log scale · n = 10,759 requests in 6 runs`. */
  about: string;
  /** How to read the chart, in one or two sentences. */
  help?: string;
  /** Buttons and selects that change what is drawn. */
  controls?: Node[];
  /** Draws into an empty host of this width, in CSS pixels. */
  draw: (host: HTMLElement, width: number) => void;
  /** What belongs to the chart, and is no part of the drawing. */
  below?: HTMLElement | null;
  /** The same data as a table, for screen readers and for copying. */
  numbers?: () => Numbers;
}

const redraws = new WeakMap<Element, () => void>();

/** Redraws a card that has been drawn already, such as after a selection changed. */
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
    options.below ?? null,
    options.numbers ? numbers(options.title, options.numbers) : null,
  );
  drawLazily(host, figure, options.draw);
  return figure;
}

/**
 * Draws at once when the card comes near the viewport, otherwise while the browser is idle: a screenshot of the whole page
 * has every chart, although nobody scrolled to it. A window that paints no frames, as in the background, has no observers: the
 * first drawing is queued without them.
 */
function drawLazily(host: HTMLElement, figure: HTMLElement, draw: Card['draw']): void {
  let isStarted = false;
  /** The width of the current drawing; 0 if it is out of date. */
  let width = 0;
  const fit = (): void => {
    const now = host.clientWidth;
    // A hidden card has no width. It is drawn once it is visible again.
    if (!isStarted || now === 0 || now === width) return;
    width = now;
    host.replaceChildren();
    try {
      draw(host, now);
    } catch (error) {
      host.replaceChildren(failure(error));
    }
  };
  const start = (): void => {
    // The charts of a hidden load wait until it is selected.
    isStarted ||= host.clientWidth > 0;
    fit();
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
      isStarted = true;
      fit();
    },
    { rootMargin: '300px' },
  ).observe(host);
  new ResizeObserver(() => {
    if (isStarted) fit();
    else whenIdle(start);
  }).observe(host);
  onRedraw(() => {
    isStarted ||= isPrinting();
    again();
  });
  whenIdle(start);
}
