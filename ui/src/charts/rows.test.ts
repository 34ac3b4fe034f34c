/** Row charts have one Tab stop, show every name, and fit their width. */

import { describe, expect, it } from 'vitest';
import { FIXTURES } from '../../fixtures';
import type { Load, Report } from '../report';
import { forest, intervals } from './intervals';

function first(report: Report): [Report, Load] {
  const load = report.loads[0];
  if (!load) throw new Error('no load');
  return [report, load];
}

describe('intervals', () => {
  for (const name of ['study', 'hostile'] as const) {
    it(`of the ${name} fixture have a row for each pair and one Tab stop`, () => {
      const [report, load] = first(FIXTURES[name]());
      for (const width of [320, 1180]) {
        const drawn = forest(report, load, width);
        const rows = [...drawn.querySelectorAll('.row')];
        expect(rows).toHaveLength(load.pairs.length);
        expect(rows.map((row) => row.getAttribute('tabindex'))).toEqual(
          rows.map((_, at) => (at === 0 ? '0' : '-1')),
        );
        for (const row of rows) expect(row.getAttribute('aria-label')).toContain(load.metric.words);
        for (const mark of drawn.querySelectorAll('circle')) {
          const x = Number(mark.getAttribute('cx'));
          expect(x >= 0 && x <= width).toBe(true);
        }
        expect(drawn.querySelectorAll('script, img, foreignObject, [style], [onload]')).toHaveLength(0);
      }
    });
  }
  it('draw no shading or grid lines behind names above the marks', () => {
    const [report, load] = first(FIXTURES.study());
    const drawn = forest(report, load, 360);
    const at = (mark: Element, name: string): number => Number(mark.getAttribute(name));
    const shades = [...drawn.querySelectorAll('.threshold')];
    const spans = [
      ...shades.map((mark) => [at(mark, 'y'), at(mark, 'y') + at(mark, 'height')]),
      ...[...drawn.querySelectorAll('.grid, .even')].map((mark) => [at(mark, 'y1'), at(mark, 'y2')]),
    ];
    expect(shades).toHaveLength(load.pairs.length);
    for (const name of drawn.querySelectorAll('.name')) {
      const [top, bottom] = [at(name, 'y') - 10, at(name, 'y') + 3];
      for (const [from = 0, to = 0] of spans) expect(to <= top || from >= bottom).toBe(true);
    }
    expect(forest(report, load, 1180).querySelectorAll('.threshold')).toHaveLength(1);
  });
  it('put long names above the marks instead of cutting them', () => {
    const [report, load] = first(FIXTURES.study());
    const rows = load.rows.map((row, at) => ({
      ...row,
      name: `system workers=8 threads=16 pool=growing ${at}`,
    }));
    const drawn = forest(report, { ...load, rows }, 1180);
    const names = [...drawn.querySelectorAll('.name')].map((name) => name.textContent);
    expect(names.filter((name) => name.startsWith('÷'))).toHaveLength(load.pairs.length);
    expect(names.some((name) => name.endsWith('…'))).toBe(false);
  });
  it('are omitted if nothing was compared', () => {
    const [report, load] = first(FIXTURES.run());
    expect(intervals(report, load)).toBeNull();
    const [study, compared] = first(FIXTURES.study());
    expect(intervals(study, compared)).not.toBeNull();
  });
  it('move the focus between rows with arrow keys', () => {
    const [report, load] = first(FIXTURES.study());
    const drawn = document.body.appendChild(document.createElement('div'));
    drawn.append(forest(report, load, 800));
    const [one, other] = drawn.querySelectorAll<SVGElement>('.row');
    one?.focus();
    one?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown' }));
    expect(document.activeElement).toBe(other);
    expect([one?.getAttribute('tabindex'), other?.getAttribute('tabindex')]).toEqual(['-1', '0']);
  });
});
