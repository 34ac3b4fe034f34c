/** What each event cost, over all blocks: every figure by variant, and the difference from one of them. */

import type { CostFigure, EventCosts, Load, PooledEvent, Report } from '../report';
import { card } from '../card';
import { costChart, differenceChart } from '../charts/costs';
import { legend } from '../charts/legend';
import { dot, line } from '../charts/marks';
import { append, h } from '../dom';
import { eventCauses as causesOf } from './event_causes';
import { costNumbers, nameOf, sampleText, spanOf } from '../views/costs';

/** Below this width, differences are below the figures. */
const WIDE_PX = 860;
const GAP_PX = 28;
/** Sentences that are shown; all figures are in the data table. */
const SENTENCES_MAX = 40;

export function eventCosts(report: Report, load: Load): HTMLElement | null {
  const costs = load.event_costs ?? null;
  if (costs === null) return null;
  const at = report.loads.indexOf(load) + 1;
  const cards = costs.events.map((event, index) =>
    costCard(report, load, event, `event-cost-${at}-${index + 1}`),
  );
  return h('div', { class: 'event-costs' }, ...cards, leftOut(costs));
}

function leftOut({ left_out }: EventCosts): HTMLElement | null {
  if (left_out === 0) return null;
  const events = left_out === 1 ? '1 more event is' : `${left_out} more events are`;
  return h('p', { class: 'about' }, `${events} in the JSON report.`);
}

function costCard(report: Report, load: Load, event: PooledEvent, id: string): HTMLElement {
  const hasDifferences = event.figures.some(({ differences }) => differences.length > 0);
  const right = hasDifferences
    ? ` Right: the difference from ${nameOf(load, event.from)} within blocks.`
    : '';
  return card({
    id,
    title: `What ${event.name} cost`,
    about: `median over blocks, 95 % confidence interval from six blocks on · ${sampleText(event)}`,
    help: `All occurrences of a run together: losses and excess waiting add up, the others are the longest.${right}`,
    draw: (host, width) => {
      const isWide = width >= WIDE_PX && hasDifferences;
      const left = isWide ? Math.floor((width - GAP_PX) * 0.54) : width;
      append(host, keys(event));
      for (const figure of event.figures) {
        append(
          host,
          drawn(report, load, event, figure, isWide ? [left, width - GAP_PX - left] : [width, width]),
        );
      }
      append(host, words(event));
    },
    below: causesOf(report, load, event.causes ?? []),
    numbers: () => costNumbers(load, event),
  });
}

function drawn(
  report: Report,
  load: Load,
  event: PooledEvent,
  figure: CostFigure,
  [left, right]: [number, number],
): HTMLElement {
  const values = h(
    'div',
    {},
    h('h4', {}, figure.title),
    costChart(report, load, event, figure, spanOf(sharing(event, figure).flatMap((of) => of.rows)), left),
  );
  if (figure.differences.length === 0) return h('div', { class: 'cost' }, values);
  const apart = h(
    'div',
    {},
    h('h5', {}, `Difference from ${nameOf(load, event.from)}`),
    differenceChart(report, load, event, figure, right),
  );
  return h('div', { class: left === right ? 'cost' : 'cost two' }, values, apart);
}

/** All counts of lost requests have one axis, so that classes can be compared. */
function sharing(event: PooledEvent, figure: CostFigure): CostFigure[] {
  return figure.unit === 'count' ? event.figures.filter(({ unit }) => unit === 'count') : [figure];
}

function keys({ rows }: PooledEvent): HTMLElement {
  const hasNot = rows.some(({ not_recovered }) => not_recovered > 0);
  return legend([
    { sample: [dot(11, 7, 3.2, true)], words: 'one block', color: 'in-muted' },
    { sample: [dot(11, 7, 4.5, true)], words: 'median', color: 'in-ink' },
    { sample: [line('interval', 1, 7, 21, 7)], words: '95 % confidence interval', color: 'in-ink' },
    ...(hasNot
      ? [{ sample: [dot(11, 7, 3.2, false)], words: 'not seen back to usual', color: 'in-muted' }]
      : []),
  ]);
}

function words(event: PooledEvent): HTMLElement {
  const all = [...event.rows.flatMap((row) => row.words), ...event.sentences];
  const more = all.length - SENTENCES_MAX;
  return h(
    'div',
    { class: 'sentences' },
    h('ul', {}, ...all.slice(0, SENTENCES_MAX).map((sentence) => h('li', {}, sentence))),
    more > 0 ? h('p', { class: 'caveat' }, `and ${more} more`) : null,
  );
}
