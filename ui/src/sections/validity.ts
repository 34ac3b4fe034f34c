/** Whether the numbers can be trusted, and if not, why. */

import type { Doubt, Report, Validity } from '../report';
import { h } from '../dom';
import { openInPrint } from '../theme';
import { icon, type Shape } from '../icons';

const SHAPES: Record<Validity['level'], Shape> = { valid: 'good', suspect: 'doubtful', invalid: 'bad' };
const WORDS: Record<Validity['level'], string> = { valid: 'Valid', suspect: 'Suspect', invalid: 'Invalid' };

export function validity({ validity: of }: Report): HTMLElement {
  const shape = SHAPES[of.level];
  return h(
    'section',
    { class: `validity ${shape}`, id: 'validity', 'aria-label': 'Validity' },
    h(
      'p',
      { class: 'verdict' },
      h('span', { class: `chip ${shape}` }, icon(shape), WORDS[of.level]),
      h('span', {}, of.sentence),
    ),
    of.doubts.length === 0 ? null : doubts(of),
  );
}

function doubts({ level, doubts: all }: Validity): HTMLElement {
  const word = all.length === 1 ? 'Show 1 warning' : `Show ${all.length} warnings`;
  const details = h(
    'details',
    { class: 'warnings', open: level === 'invalid' },
    h('summary', {}, word),
    h('ul', { class: 'doubts' }, ...all.map(doubt)),
  );
  openInPrint(details);
  return details;
}

function doubt({ tone, where, sentence, remedy, quote }: Doubt): HTMLElement {
  return h(
    'li',
    {},
    icon(tone),
    h(
      'div',
      {},
      h('p', {}, sentence),
      where === '' ? null : h('p', { class: 'where' }, where),
      remedy === '' ? null : h('p', { class: 'remedy' }, h('strong', {}, 'help: '), remedy),
      quote.length === 0 ? null : h('pre', { tabindex: 0 }, quote.join('\n')),
    ),
  );
}
