/** A picture without a card that is drawn again whenever its room changes. */

import { h } from '../dom';
import { onTheme } from '../theme';

export function fitted(kind: string, draw: (host: HTMLElement, width: number) => void): HTMLElement {
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
  // Paper does not wait for an observer.
  onTheme(fit);
  return host;
}
