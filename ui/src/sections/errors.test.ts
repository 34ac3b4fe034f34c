/** The error list of a report written by Rust: the help of each class can be opened, and appears once. */

import { describe, expect, it } from 'vitest';
import golden from '../../../crates/report/tests/golden/errors.page.json';
import type { Load, Report } from '../report';
import { errors } from './errors';

/** The types of an imported document are wider than its values. */
const report = golden as unknown as Report;

function listed(change: (load: Load) => Load): Element[] {
  const load = report.loads[0];
  if (!load) throw new Error('no load');
  const part = errors(report, change({ ...load, rows: [] }));
  return [...(part?.querySelectorAll('.error-list tbody tr') ?? [])];
}

const textOf = (rows: Element[], selector: string): (string | null | undefined)[] =>
  rows.map((row) => row.querySelector(selector)?.textContent);

describe('the help of an error class', () => {
  it('is present for every known class, and closed', () => {
    const rows = listed((load) => load);
    const classes = textOf(rows, 'th');
    expect(classes).toEqual(['status', 'check', 'reset', 'timeout_headers', 'others']);
    const helps = textOf(rows, '.class-help p');
    expect(helps[0]).toBe(
      "The status is not one of the accepted ones. Read the server's log for this status; if it is right, accept it (--expect-status, expect in a plan).",
    );
    expect(rows[0]?.querySelectorAll('.class-help code').length).toBe(2);
    expect(helps.at(-1)).toBeUndefined();
    expect(rows.some((row) => row.querySelector('details')?.open)).toBe(false);
  });
  it('appears at the first error of the class', () => {
    const twice = (load: Load): Load => ({
      ...load,
      errors: load.errors.flatMap((kind) => [kind, { ...kind, message: 'again' }]),
    });
    const helps = textOf(listed(twice), '.class-help p');
    expect(helps.filter((help) => help?.startsWith('The status')).length).toBe(1);
    expect(helps[0]).toBeDefined();
  });
  it('is plain text, whatever it contains', () => {
    const hostile = (load: Load): Load => ({
      ...load,
      errors: load.errors.map((kind) => ({ ...kind, help: '<b>`a` ` <i>' })),
    });
    expect(textOf(listed(hostile), '.class-help p')[0]).toBe('<b>a  <i>');
  });
});
