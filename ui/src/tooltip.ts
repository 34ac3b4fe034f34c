/** One small box for exact values, shared by every picture. */

import { h } from './dom';

let box: HTMLElement | undefined;

/** Shows lines beside a point of the window; the first is the title. */
export function showTip(x: number, y: number, lines: string[]): void {
  box ??= document.body.appendChild(h('div', { class: 'tip', role: 'status', hidden: true }));
  box.replaceChildren(...lines.map((line, place) => h(place === 0 ? 'strong' : 'span', {}, line)));
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = x + 14 + width > innerWidth ? x - 14 - width : x + 14;
  const top = y + 14 + height > innerHeight ? y - 14 - height : y + 14;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top)}px`;
}

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') hideTip();
});

export function hideTip(): void {
  if (box) box.hidden = true;
}

/** Gives a mark its exact values: for the mouse, a finger, and the keyboard. */
export function tip(mark: SVGElement | HTMLElement, lines: () => string[]): void {
  mark.addEventListener('pointerenter', (event) => {
    if (event instanceof PointerEvent) showTip(event.clientX, event.clientY, lines());
  });
  mark.addEventListener('pointerleave', hideTip);
  mark.addEventListener('focus', () => {
    const { right, top } = mark.getBoundingClientRect();
    showTip(right, top, lines());
  });
  mark.addEventListener('blur', hideTip);
}
