import { expect, test } from 'vitest';
import { run } from '../../fixtures/run';
import { study } from '../../fixtures/study';
import { raw } from './raw';

test('one row per run, one cell per column, unique column titles', () => {
  for (const report of [study(), run()]) {
    const { heads, rows } = raw(report);
    expect(rows).toHaveLength(report.runs.length);
    for (const row of rows) expect(row).toHaveLength(heads.length);
    expect(new Set(heads).size).toBe(heads.length);
  }
});

test('all values of fairness are present, with the unit last', () => {
  const report = run();
  const { heads, rows } = raw(report);
  const at = (head: string) => rows[0]?.[heads.indexOf(head)];
  const fair = report.runs[0]?.fairness;
  expect(at('requests per connection min')).toBe(fair?.requests.min);
  expect(at('response mean per connection median ms')).toBe(fair?.response_mean_ms?.median);
  expect(at('response max per connection max ms')).toBe(fair?.response_max_ms?.max);
  expect(at('samples')).toBe(report.runs[0]?.figures?.samples);
});

test('a run without results has empty cells', () => {
  const report = study();
  const { heads, rows } = raw(report);
  const index = report.runs.findIndex(({ standing }) => standing === 'failed');
  expect(rows[index]?.[heads.indexOf('status')]).toBe('failed');
  expect(rows[index]?.[heads.indexOf('response p99 ms')]).toBeNull();
  expect(rows[index]?.[heads.indexOf('block')]).toBe(1);
});
