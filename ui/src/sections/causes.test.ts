// @vitest-environment jsdom
import { expect, it } from 'vitest';
import type { Load, Report } from '../report';
import { study } from '../../fixtures/study';
import { causeRows } from '../views/causes';
import { causes, causesOfLimit } from './causes';
import { experiment } from './experiment';

function fixture(): [Report, Load] {
  const report = study();
  const [load] = report.loads;
  if (!load) throw new Error('no load');
  return [report, load];
}

const texts = (element: Element | null, selector: string): string[] =>
  [...(element?.querySelectorAll(selector) ?? [])].map(({ textContent }) => textContent);

it('shows the best of each system first, and any other variant on demand', () => {
  const [report, load] = fixture();
  const panel = causes(report, load);
  const best = load.rows.filter((row) => row.is_best).map(({ name }) => name);
  expect(texts(panel, 'h4').toSorted()).toEqual(best.toSorted());
  const select = panel?.querySelector('select');
  if (!select) throw new Error('no select');
  expect(select.options.length - 1).toBe(load.rows.length - best.length);
  select.value = '0';
  select.dispatchEvent(new Event('change'));
  expect(texts(panel, 'h4')).toEqual([load.rows[causeRows(report, load).others[0]?.row ?? -1]?.name]);
});

it('opens the most likely cause, and shows how much each explains', () => {
  const [report, load] = fixture();
  const [first] = causeRows(report, load).first;
  const row = causes(report, load)?.querySelector('.of-row') ?? null;
  expect([...(row?.querySelectorAll('details') ?? [])].map(({ open }) => open)).toEqual([true, false, false]);
  expect(texts(row, 'summary strong')).toEqual(first?.causes.map(({ what }) => what));
  expect(texts(row, 'summary .share')).toEqual(['72 % of the response time', '18 % of the response time']);
  expect(texts(row, '.no-share')).toEqual(['share not known']);
  expect(row?.textContent).toContain('what is waited for may lack a core');
});

it('shows the highest readings where nothing explains the run', () => {
  const [report, load] = fixture();
  const all = causes(report, load);
  expect(texts(all, '.readings .share')).toEqual(['64 %', '37 %', '12 %']);
  expect(texts(all, '.readings .what')[0]).toBe('busiest thread of the system');
});

it('says what an experiment confirmed and refuted, and shows what it changed', () => {
  const [report, load] = fixture();
  const [first] = causeRows(report, load).first;
  const [confirmed, refuted] = first?.causes ?? [];
  if (!confirmed || !refuted) throw new Error('no causes');
  confirmed.certainty = 'confirmed';
  refuted.certainty = 'refuted';
  const panel = causes(report, load);
  expect(texts(panel, 'summary strong').slice(0, 2)).toEqual([
    `confirmed: ${confirmed.what}`,
    `refuted: ${refuted.what}`,
  ]);
  expect(panel?.querySelector('.about')?.textContent).toContain('by an experiment');
  const shown = experiment(report, load);
  expect(texts(shown, 'td:last-child')).toContain('refuted');
  expect(texts(shown, 'dt')).toEqual(['noise', 'next limit']);
  expect(experiment(report, { ...load, experiment: null })).toBeNull();
});

it('names what limits a variant of a capacity search, or why nothing is known', () => {
  const limit = { per_s: 407, runs: 1, causes: [], reason: 'nothing was answered ok' };
  expect(texts(causesOfLimit(limit), '.about')).toEqual([
    'At 407/s, the lowest failing rate, 1 run. Not known: nothing was answered ok.',
  ]);
  const [cause] = fixture()[1].bottlenecks.flatMap((each) => each.causes);
  if (!cause) throw new Error('no cause');
  const panel = causesOfLimit({ ...limit, runs: 3, causes: [cause], reason: '' });
  expect(texts(panel, 'summary strong')).toEqual([cause.what]);
  expect(panel.textContent).toContain('At 407/s, the lowest failing rate, 3 runs. Suspected from readings');
});
