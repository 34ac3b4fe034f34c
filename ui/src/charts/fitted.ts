/** A picture without a card that is drawn again whenever its room changes. */

import { h } from '../dom';

export function fitted(kind: string, draw: (host: HTMLElement, width: number) => void): HTMLElement {
  const host = h('div', { class: kind });
  let width = 0;
  new ResizeObserver(() => {
    const now = host.clientWidth;
    if (now === 0 || now === width) return;
    width = now;
    host.replaceChildren();
    draw(host, now);
  }).observe(host);
  return host;
}
