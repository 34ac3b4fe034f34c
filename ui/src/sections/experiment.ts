/** What an experiment changed, one thing at a time, what each change did to throughput, and how it grows with the users. */

import type { Load, Report } from '../report';
import type { EffectOfChange, Scaling } from '../report_experiment';
import { card } from '../card';
import { dataTable } from '../data_table';
import { h, s } from '../dom';
import { effectsChart, prediction } from '../charts/effects';
import { legend } from '../charts/legend';
import { line } from '../charts/marks';
import { scalingCurve } from '../charts/scaling_curve';
import { effectNumbers, scalingSample } from '../views/effects';

const COLOR = 'series-1';

export function experiment(report: Report, load: Load): HTMLElement | null {
  const found = load.experiment;
  if (!found) return null;
  const at = report.loads.indexOf(load) + 1;
  const table = dataTable(found.table, { title: `Experiment on ${found.about}`, legend: [], mark: () => '' });
  const facts = found.facts.flatMap(({ name, value }) => [h('dt', {}, name), h('dd', {}, value)]);
  return h(
    'div',
    { class: 'experiment' },
    h('h3', {}, `Experiment on ${found.about}`),
    h('p', { class: 'about' }, 'One change at a time, in blocks; throughput ÷ that of the control.'),
    table,
    facts.length === 0 ? null : h('dl', { class: 'panel facts' }, ...facts),
    found.effects.length > 1 ? effects(found.effects, at) : null,
    found.scaling === null ? null : scaling(found.scaling, at),
  );
}

function effects(all: EffectOfChange[], at: number): HTMLElement {
  return card({
    id: `experiment-effects-${at}`,
    title: 'Effect of each change',
    about: `throughput ÷ control, log scale · n = ${Math.max(...all.map((each) => each.in_blocks.length))} blocks`,
    help: 'A change of the limit moves throughput to its prediction; a change of anything else leaves it at 1.',
    draw: (host, width) => {
      host.append(key(), effectsChart(all, COLOR, width));
    },
    numbers: () => effectNumbers(all),
  });
}

function key(): HTMLElement {
  const estimate = [
    line('interval', 2, 7, 20, 7),
    s('circle', { class: 'dot estimate', cx: 11, cy: 7, r: 4.5 }),
  ];
  return legend([
    { sample: estimate, words: 'estimate, 95 % confidence interval', color: COLOR },
    { sample: [line('block', 8, 3, 8, 11), line('block', 14, 3, 14, 11)], words: 'block', color: COLOR },
    { sample: [prediction(11, 7)], words: 'predicted of a limit', color: COLOR },
  ]);
}

function scaling(of: Scaling, at: number): HTMLElement {
  const hasLaw = of.law.length > 1;
  return card({
    id: `experiment-scaling-${at}`,
    title: 'Throughput by users',
    about: `ok per second, median · ${scalingSample(of)}`,
    help: hasLaw
      ? 'Dashed: the Universal Scalability Law through the points.'
      : 'No scalability law fits the points.',
    draw: (host, width) => {
      host.append(scalingCurve(of, COLOR, width));
    },
    numbers: () => ({
      heads: ['users', 'ok, per second', 'runs'],
      rows: of.steps.map(({ users, per_s, runs }) => [users, per_s, runs]),
    }),
  });
}
