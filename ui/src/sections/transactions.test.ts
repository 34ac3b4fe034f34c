/** Reports about transactions, written by Rust: the page never calls them requests. */

import { describe, expect, it } from 'vitest';
import ofRequests from '../../../crates/report/tests/golden/normal.page.json';
import ofStudy from '../../../crates/report/tests/golden/study-sql.page.json';
import ofRun from '../../../crates/report/tests/golden/transactions.page.json';
import type { Load, Report } from '../report';
import { raw } from '../views/raw';
import { measures } from '../views/measures';
import { errors } from './errors';
import { commands, facts } from './facts';
import { fairness } from './fairness';
import { summary } from './summary';
import { head } from './head';
import { latencyLoad } from './latency_load';
import { runs } from './runs';
import { statements, steps } from './steps';
import { table } from './table';

/** The types of an imported document are wider than its values. */
const GOLDENS = {
  normal: ofRequests,
  transactions: ofRun,
  'study-sql': ofStudy,
} as unknown as Record<string, Report>;

function golden(name: string): [Report, Load] {
  const report = GOLDENS[name];
  const load = report?.loads[0];
  if (!report || !load) throw new Error('no load');
  return [report, load];
}

describe.each(['transactions', 'study-sql'])('%s', (name) => {
  const [report, load] = golden(name);

  it('never mentions requests', () => {
    const ofLoad = [summary, table, steps, statements, errors, fairness, latencyLoad, runs];
    const parts = ofLoad.map((section) => section(report, load));
    parts.push(...[head, facts, commands].map((section) => section(report)));
    const texts = parts.map((part) => part?.textContent ?? '');
    expect(texts.filter((text) => text !== '').length).toBeGreaterThan(6);
    for (const text of [...texts, ...raw(report).heads, ...measures(report, load).map(({ words }) => words)])
      expect(text).not.toMatch(/requests?\b|answers\/s|HTTP/i);
  });

  it('has a row per statement, with its share of the time', () => {
    const shown = statements(report, load);
    const rows = shown?.querySelectorAll('tbody tr').length ?? 0;
    expect(rows).toBe(load.statements?.rows.length);
    expect(rows % 7).toBe(0);
    expect(shown?.textContent).toMatch(/UPDATE pgbench_branches/);
    expect(shown?.textContent).toMatch(/\d %/);
  });

  it('says that some transactions may or may not have taken effect', () => {
    expect(report.notices.some(({ text }) => text.includes('may or may not have taken effect'))).toBe(true);
  });
});

it('calls the steps of a transaction load transactions', () => {
  const [report, load] = golden('transactions');
  expect(steps(report, load)?.querySelector('h3')?.textContent).toBe('Metrics by transaction');
});

it('omits the table of statements without statements', () => {
  const [report, load] = golden('normal');
  expect(statements(report, load)).toBeNull();
});
