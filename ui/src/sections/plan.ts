/** The text of the plan. */

import type { Report } from '../report';
import { h } from '../dom';
import { copyButton } from '../copy';

export function plan({ plan: text }: Report): HTMLElement | null {
  if (text === null) return null;
  return h(
    'div',
    { class: 'panel plan' },
    h(
      'div',
      { class: 'panel-head' },
      h('h3', {}, 'Plan'),
      copyButton('Copy', 'the plan', () => text),
    ),
    h('pre', { tabindex: 0, role: 'region', 'aria-label': 'Plan' }, h('code', {}, text)),
  );
}
