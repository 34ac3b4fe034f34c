/** A chart outside a card that is redrawn whenever its width changes. */

import { h } from '../dom';
import { onRedraw } from '../theme';

export function resizing(kind: string, draw: (host: HTMLElement, width: number) => void): HTMLElement {
  const host = h('div', { class: kind });
  let width = 0;
  const fit = (): void => {
    const now = host.clientWidth;
    if (now === 0 || now === width) return;
    width = now;
    host.replaceChildren();
    draw(host, now);
  };
  new ResizeObserver(fit).observe(host);
  // Printing does not wait for an observer.
  onRedraw(fit);
  return host;
}
