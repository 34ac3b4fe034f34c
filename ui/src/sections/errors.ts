/** Errors: the rate of each variant, the error messages, and the output of the systems. */

import type { ErrorKind, Load, Report, Row } from '../report';
import { card } from '../card';
import { append, h, s, type Child } from '../dom';
import { count, decimal, formatValue } from '../format';
import { colorClass } from '../colors';
import { legend } from '../charts/legend';
import { round } from '../charts/marks';
import { outcomeFills } from '../charts/patterns';
import { chart, rows, type Item } from '../charts/rows';
import { extent } from '../views/measures';
import { ordered, type Named } from '../views/order';
import { countText } from '../views/counted';
import { OUTCOMES, WORDS, errorShare, completed, kinds, parts } from '../views/outcomes';
import { fromZero } from '../views/scale';

/** Longer messages are cut; the full text can be opened. */
const MESSAGE_MAX = 300;
/** The number of lines shown before `Show more`. */
const ROWS_MAX = 30;

export function errors(report: Report, load: Load): HTMLElement | null {
  const all = completed(load);
  const bad = ordered(report, load).filter(({ row }) => errorShare(row) > 0);
  const unnamed = load.errors.length === 0 && load.written.length === 0;
  if (all === 0 && unnamed && bad.length === 0) return null;
  if (bad.length === 0 && unnamed) {
    return h('p', { class: 'no-errors' }, `No errors in ${countText(report, all)}.`);
  }
  const part = h('div', { class: 'errors' });
  if (bad.length > 0) append(part, shares(report, load, bad));
  if (load.errors.length > 0)
    append(part, h('div', { class: 'panel' }, h('h3', {}, 'Error messages'), list(load)));
  if (load.written.length > 0) {
    const lines = h('ul', { class: 'written' }, ...load.written.map((line) => h('li', {}, line)));
    append(
      part,
      h('div', { class: 'panel' }, h('h3', {}, 'Most frequent output lines of systems with errors'), lines),
    );
  }
  return part;
}

function shares(report: Report, load: Load, bad: Named[]): HTMLElement {
  const others = load.rows.filter((row) => row.figures && errorShare(row) === 0).length;
  const omitted =
    others === 0 ? '' : ` ${others} ${others === 1 ? 'variant' : 'variants'} without errors omitted.`;
  const planned = bad.reduce((sum, { row }) => sum + (row.figures?.counts.planned ?? 0), 0);
  return card({
    id: `not-ok-${report.loads.indexOf(load) + 1}`,
    title: 'Error rate by outcome',
    about: `% of planned ${report.counted.many}, from zero · n = ${count(planned)} planned ${report.counted.many}`,
    help: `Rejected: error status, failed check, or SQL error. Failed: connection or protocol error. Timed out: no answer in time. Not sent: never started.${omitted}`,
    draw: (host, width) => {
      append(host, outcomeLegend(bad), draw(report, load, bad, width));
    },
    numbers: () => ({
      heads: ['variant', 'planned', 'ok', ...OUTCOMES.map((outcome) => WORDS[outcome]), 'unfinished'],
      rows: bad.map(({ row }) => {
        const counts = row.figures?.counts;
        return [
          row.name,
          counts?.planned ?? null,
          counts?.ok ?? null,
          ...OUTCOMES.map((outcome) => counts?.[outcome] ?? null),
          counts?.unfinished ?? null,
        ];
      }),
    }),
  });
}

function outcomeLegend(bad: Named[]): HTMLElement {
  const present = OUTCOMES.filter((outcome) =>
    bad.some(({ row }) => (row.figures?.counts[outcome] ?? 0) > 0),
  );
  return legend(
    present.map((outcome) => {
      const own = chart(22, 14, '');
      const fill = outcomeFills(own)[outcome];
      const box = s('rect', { class: 'outcome', x: 2, y: 2, width: 18, height: 10, fill });
      return {
        sample: [s('g', { class: `outcome-${outcome}` }, ...own.childNodes, box)],
        words: WORDS[outcome],
      };
    }),
  );
}

function draw(report: Report, load: Load, bad: Named[], width: number): SVGSVGElement {
  const most = extent(bad.map(({ row }) => errorShare(row)))?.[1] ?? 0;
  const box = chart(0, 0, '');
  const fills = outcomeFills(box);
  const items = bad.map(({ at, row, label, group }): Item => ({
    label,
    group,
    color: colorClass(report, load, at),
    is_winner: row.is_winner,
    figure: formatValue(errorShare(row), 'share'),
    lines: () => lines(row),
    draw: ({ parts: drawn, scale, y, height }) => {
      const high = height * 0.62;
      for (const part of row.figures ? parts(row.figures.counts) : []) {
        const [from, to] = [scale.at(part.from), scale.at(part.to)];
        // One error in a million is still visible.
        const wide = Math.max(1.5, to - from);
        const bar = { x: round(from), y: round(y - high / 2), width: round(wide), height: round(high) };
        drawn.append(
          s(
            'g',
            { class: `outcome-${part.outcome}` },
            s('rect', { class: 'outcome', ...bar, fill: fills[part.outcome] }),
          ),
        );
      }
    },
  }));
  const svg = rows({
    width,
    items,
    scale: (room) => fromZero(most, 'share', room),
    figures: 'errors',
    title: 'Error rate by outcome',
  });
  svg.prepend(...box.childNodes);
  return svg;
}

function lines(row: Row): string[] {
  const counts = row.figures?.counts;
  if (!counts) return [row.name];
  const share = (part: number): string => formatValue(part / Math.max(1, counts.planned), 'share');
  return [
    row.name,
    `planned ${count(counts.planned)}`,
    `ok ${count(counts.ok)}, ${share(counts.ok)}`,
    ...parts(counts).map((part) => `${WORDS[part.outcome]} ${count(part.count)}, ${share(part.count)}`),
    ...(counts.unfinished > 0 ? [`unfinished ${count(counts.unfinished)} (in flight at the end)`] : []),
  ];
}

function list(load: Load): HTMLElement {
  const all = kinds(load);
  // The help of a class appears at its first error.
  const first = new Map(all.toReversed().map((kind) => [kind.class, kind]));
  const line = (kind: ErrorKind): HTMLElement => listed(load, kind, first.get(kind.class) === kind);
  const body = h('tbody', {}, ...all.slice(0, ROWS_MAX).map(line));
  const heads = ['class', 'example message', 'count', 'share', 'variant'];
  const head = heads.map((text, at) =>
    h('th', { scope: 'col', class: at === 2 || at === 3 ? 'number' : null }, text),
  );
  const table = h(
    'table',
    { class: 'error-list' },
    h('caption', { class: 'unseen' }, 'Error messages'),
    h('thead', {}, h('tr', {}, ...head)),
    body,
  );
  const part = h('div', { class: 'scroll' }, table);
  const rest = all.slice(ROWS_MAX);
  if (rest.length > 0) {
    const more = h('button', { type: 'button', class: 'more' }, `Show ${count(rest.length)} more`);
    more.addEventListener('click', () => {
      append(body, ...rest.map(line));
      more.remove();
    });
    append(part, more);
  }
  return part;
}

function listed(load: Load, kind: ErrorKind, is_first: boolean): HTMLElement {
  const { row, class: name, message, count: times, share, help } = kind;
  return h(
    'tr',
    {},
    h('th', { scope: 'row' }, name),
    h('td', { class: 'message' }, ...messageOf(message), is_first && help !== null && helpOf(help)),
    h('td', { class: 'number' }, count(times)),
    h('td', { class: 'number' }, share > 0 && share < 0.00005 ? '< 0.01 %' : `${decimal(share * 100, 2)} %`),
    h('td', {}, load.rows[row]?.name ?? ''),
  );
}

function helpOf(help: string): HTMLElement {
  return h('details', { class: 'class-help' }, h('summary', {}, 'Help'), h('p', {}, ...coded(help)));
}

/** Text between backticks is code. */
function coded(text: string): Child[] {
  return text.split('`').map((part, at) => (at % 2 === 1 ? h('code', {}, part) : part));
}

function messageOf(message: string): Node[] {
  const letters = Array.from(message);
  if (letters.length <= MESSAGE_MAX) return [document.createTextNode(message)];
  const cut = `${letters.slice(0, MESSAGE_MAX).join('')}…`;
  const whole = h('details', {}, h('summary', {}, 'Full message'), h('p', {}, message));
  return [document.createTextNode(cut), whole];
}
