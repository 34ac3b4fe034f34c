/** One tooltip for exact values, shared by all charts. */

import { h } from './dom';

let box: HTMLElement | undefined;

/** Shows lines next to a point of the window; the first line is the title. */
export function showTooltip(x: number, y: number, lines: string[]): void {
  box ??= document.body.appendChild(h('div', { class: 'tip', role: 'status', hidden: true }));
  box.replaceChildren(...lines.map((line, index) => h(index === 0 ? 'strong' : 'span', {}, line)));
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = x + 14 + width > innerWidth ? x - 14 - width : x + 14;
  const top = y + 14 + height > innerHeight ? y - 14 - height : y + 14;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top)}px`;
}

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') hideTooltip();
});

export function hideTooltip(): void {
  if (box) box.hidden = true;
}

/** Adds a tooltip to a mark, for mouse, touch, and keyboard. */
export function addTooltip(mark: SVGElement | HTMLElement, lines: () => string[]): void {
  mark.addEventListener('pointerenter', (event) => {
    if (event instanceof PointerEvent) showTooltip(event.clientX, event.clientY, lines());
  });
  mark.addEventListener('pointerleave', hideTooltip);
  mark.addEventListener('focus', () => {
    const { right, top } = mark.getBoundingClientRect();
    showTooltip(right, top, lines());
  });
  mark.addEventListener('blur', hideTooltip);
}
