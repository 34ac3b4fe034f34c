/** The top of the page: the question, and for each load the answer with its certainty. */

import type { Answer, Load, Report } from '../report';
import { h, type Child } from '../dom';
import { icon } from '../icons';
import { intervals } from '../charts/intervals';

const KINDS = { study: 'Study', run: 'Run', runs: 'Runs' };

/** Nothing stands here where nothing was compared. */
const CERTAINTIES: Record<Answer['certainty'], string> = {
  sure: 'Verdict',
  open: 'No verdict yet',
  none: 'No verdict',
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
    h('div', { class: 'answers' }, ...report.loads.map((load, place) => answer(report, load, place))),
    notices(report),
  );
}

function answer(report: Report, load: Load, place: number): HTMLElement {
  const { certainty, text, how_sure } = load.answer;
  const isOne = report.loads.length === 1;
  const drawn = intervals(report, load);
  const word = CERTAINTIES[certainty];
  return h(
    'div',
    { class: isOne ? 'answer alone' : 'answer' },
    h(
      'div',
      { class: 'said' },
      isOne ? null : h('p', { class: 'of-load' }, h('a', { href: `#load-${place + 1}` }, load.name)),
      h('p', { class: 'sentence' }, text),
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
