/** The page header: the question, and the result of each load with its certainty. */

import type { Answer, Report } from '../report';
import { h, type Child } from '../dom';
import { icon } from '../icons';
import { intervals } from '../charts/intervals';
import { headline } from '../views/headline';

const KINDS = { study: 'Study', run: 'Run', runs: 'Runs' };

/** The label of each certainty; none if nothing was compared. */
const CERTAINTIES: Record<Answer['certainty'], string> = {
  sure: 'Conclusive',
  open: 'Not conclusive yet',
  none: 'Not conclusive',
  plain: '',
};

export function head(report: Report): HTMLElement {
  const { question, title, kind, id, begun, tenbin_version: version } = report;
  const facts: Child[] = [
    h('span', {}, KINDS[kind], question === null ? null : h('strong', {}, ` ${title}`)),
    id === title ? null : h('span', { class: 'id' }, id),
    h('span', {}, begun),
    h('span', {}, `Tenbin ${version}`),
  ];
  return h(
    'header',
    { class: `head ${kind}`, id: 'answer' },
    h('p', { class: 'eyebrow' }, ...facts),
    h('h1', { class: question === null ? 'title' : 'question' }, question ?? title),
    h('div', { class: 'answers' }, ...answers(report)),
    notices(report),
  );
}

/** One result per load, or per variant of a capacity search. */
function answers(report: Report): HTMLElement[] {
  if (report.capacity !== null) {
    const { rows } = report.capacity;
    return rows.map((row, index) =>
      answer(row.answer, rows.length > 1 ? [row.name, `#capacity-${index + 1}`] : null),
    );
  }
  const isOne = report.loads.length === 1;
  return report.loads.map((load, index) =>
    answer(load.answer, isOne ? null : [load.name, `#load-${index + 1}`], intervals(report, load)),
  );
}

/** `of`: the name and link target of the load or variant, if there are several. */
function answer(
  { certainty, text, how_sure }: Answer,
  of: [string, string] | null,
  drawn: Child = null,
): HTMLElement {
  const word = CERTAINTIES[certainty];
  const first = headline(text);
  return h(
    'div',
    { class: of === null ? 'answer alone' : 'answer' },
    h(
      'div',
      { class: 'statement' },
      of === null ? null : h('p', { class: 'of-load' }, h('a', { href: of[1] }, of[0])),
      h('p', { class: first.is_short ? 'sentence short' : 'sentence' }, first.text),
      first.rest === '' ? null : h('p', { class: 'rest-of-sentence' }, first.rest),
      h(
        'p',
        { class: 'how-sure' },
        word === ''
          ? null
          : h('span', { class: `chip ${certainty}` }, icon(certainty === 'plain' ? 'none' : certainty), word),
        how_sure === '' ? null : h('span', {}, how_sure),
      ),
    ),
    drawn && h('div', { class: 'drawn' }, drawn),
  );
}

function notices({ notices: all }: Report): HTMLElement | null {
  if (all.length === 0) return null;
  const one = (tone: (typeof all)[number]): HTMLElement =>
    h('li', { class: tone.tone }, icon(tone.tone), h('span', {}, tone.text));
  return h('ul', { class: 'notices' }, ...all.map(one));
}
