import { expect, it } from 'vitest';
import { study } from '../../fixtures/study';
import { tableOf } from './overview';

const { loads } = study();

it('has one row per variant, and the metric and p99 under each load', () => {
  const { heads, rows } = tableOf(loads);
  expect(heads.map(({ text, unit }) => `${text} ${unit}`.trim())).toEqual([
    'system',
    'parameters',
    ...loads.flatMap(({ name }) => [`${name} ok/s`, 'p99']),
  ]);
  expect(rows.map(({ cells }) => [cells[0]?.text, cells[1]?.text])).toEqual(
    loads[0]?.rows.map(({ system, variant }) => [system, variant]),
  );
  loads.forEach((load, at) => {
    load.rows.forEach(({ name, metric, is_winner }, row) => {
      const cell = rows[row]?.cells[2 + 2 * at];
      expect(cell?.value, name).toBe(metric?.median ?? null);
      expect(cell?.text.startsWith('★'), name).toBe(is_winner);
      expect(cell?.text === '–', name).toBe(metric === null);
    });
  });
});

it('has a dash where a variant was not measured, and no second p99', () => {
  const [first, second] = loads;
  if (!first || !second) throw new Error('fewer than two loads');
  const few = { ...second, rows: second.rows.slice(1) };
  expect(tableOf([first, few]).rows[0]?.cells.at(-1)?.text).toBe('–');
  const byTail = { ...first, metric: { ...first.metric, name: 'p99', words: 'p99 response time' } };
  expect(tableOf([byTail]).heads.map(({ unit }) => unit)).toEqual(['', '', 'p99 response time']);
});
