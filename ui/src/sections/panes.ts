/** Two runs side by side, and the controls that select them. */

import type { Load, Report, Run } from '../report';
import { runChoices, defaultRuns, firstChoice, runLabel, type RunChoices } from '../views/choice';
import { choice } from '../charts/choice';
import { countText } from '../views/counted';
import { clock, long } from '../views/clock';
import { colorClass } from '../colors';
import { count } from '../format';
import { append, h } from '../dom';
import { pointsOf } from '../unpack';

export interface Panes {
  /** Indexes into `Report.runs`: one or two. */
  runs: number[];
  /** The pane to show if there is room for only one. */
  front: number;
  /** Keys of hidden tracks. */
  hidden: Set<string>;
  /** Called when another run or another pane is selected. */
  listeners: (() => void)[];
}

const known = new WeakMap<Load, Panes>();

/** The panes of a load, shared by its sections; null if no run has time series. */
export function panesOf(report: Report, load: Load): Panes | null {
  const panes = known.get(load) ?? {
    runs: defaultRuns(report, load),
    front: 0,
    hidden: new Set(),
    listeners: [],
  };
  known.set(load, panes);
  return panes.runs.length > 0 ? panes : null;
}

function changed(panes: Panes): void {
  for (const listener of panes.listeners) listener();
}

/** The minimum width for two charts side by side. */
const WIDE_PX = 640;

export function isNarrow(width: number): boolean {
  return width < WIDE_PX;
}

/** Selects of the variant and the run of each pane. */
export function choices(report: Report, load: Load, panes: Panes): HTMLElement[] {
  const all = runChoices(report, load);
  const total = all.reduce((sum, { runs }) => sum + runs.length, 0);
  if (total < 2) return [];
  const columns = panes.runs.map((_, pane) => paneChoice(report, load, panes, all, pane));
  return [h('div', { class: 'pane-choices' }, ...columns)];
}

function paneChoice(report: Report, load: Load, panes: Panes, all: RunChoices[], pane: number): HTMLElement {
  const side = panes.runs.length < 2 ? 'Variant' : pane === 0 ? 'First' : 'Second';
  const field = h('div', { class: 'pane-choice' });
  const runs = h('span', { class: 'pane-run' });
  const fill = (): void => {
    const mine = all.find(({ row }) => row === rowOf(report, panes, pane));
    if (!mine) return;
    const options = mine.runs.map((run) => ({
      key: String(run),
      words: runLabel(report, load, mine.row, run),
    }));
    const chosen = String(panes.runs[pane] ?? 0);
    runs.replaceChildren(
      choice('run', options, chosen, (run) => {
        choose(panes, pane, Number(run));
      }),
    );
    runs.hidden = options.length < 2;
  };
  const variants = all.map(({ row }) => ({ key: String(row), words: load.rows[row]?.name ?? '' }));
  const first = String(rowOf(report, panes, pane));
  const list = choice(side, variants, first, (row) => {
    const of = all.find((each) => each.row === Number(row));
    if (!of) return;
    panes.runs[pane] = firstChoice(load, of);
    fill();
    changed(panes);
  });
  fill();
  append(field, list, runs);
  return field;
}

function choose(panes: Panes, pane: number, run: number): void {
  panes.runs[pane] = run;
  changed(panes);
}

function rowOf(report: Report, panes: Panes, pane: number): number {
  return report.runs[panes.runs[pane] ?? -1]?.row ?? -1;
}

/** Selects the visible pane on narrow screens. */
export function paneSwitch(report: Report, load: Load, panes: Panes): HTMLElement {
  const buttons = panes.runs.map((run, pane) => {
    const row = report.runs[run]?.row ?? 0;
    const button = h(
      'button',
      {
        type: 'button',
        class: `pane-button ${colorClass(report, load, row)}`,
        'aria-pressed': String(pane === panes.front),
      },
      h('i', { class: 'swatch' }),
      load.rows[row]?.name ?? '',
    );
    button.addEventListener('click', () => {
      const card = button.closest('.card');
      panes.front = pane;
      changed(panes);
      // The redraw replaced the button: move the focus to the new one.
      card?.querySelector<HTMLElement>('.pane-button[aria-pressed="true"]')?.focus();
    });
    return button;
  });
  return h('div', { class: 'pane-switch', role: 'group', 'aria-label': 'Run to show' }, ...buttons);
}

/** Which run the charts show: `run 20261121-1425-k3xq · block 3 · 1,281.1/s · median run of 6`. */
function runText(report: Report, load: Load, run: Run, index: number): string {
  // Outside a study the heading is the id of the run.
  const id = load.rows[run.row]?.name === run.id ? '' : `run ${run.id}`;
  return [id, runLabel(report, load, run.row, index)].filter((part) => part !== '').join(' · ');
}

const EVENTS = 12;

/** The heading above the charts of a run. */
export function paneHead(report: Report, load: Load, index: number): HTMLElement {
  const run = report.runs[index];
  if (!run) return h('div');
  const row = load.rows[run.row];
  const shown = run.events.slice(0, EVENTS).map(({ at_s, text }) => h('li', {}, `${clock(at_s)} ${text}`));
  const more = run.events.length - shown.length;
  return h(
    'div',
    { class: `pane-head ${colorClass(report, load, run.row)}` },
    h('h4', {}, h('i', { class: 'swatch' }), row?.name ?? run.id),
    h('p', { class: 'run-id' }, runText(report, load, run, index)),
    h('p', {}, words(report, run).join(' · ')),
    shown.length > 0 ? h('ol', { class: 'events' }, ...shown) : null,
    more > 0 ? h('p', {}, `and ${count(more)} more ${more === 1 ? 'event' : 'events'}`) : null,
  );
}

function words(report: Report, run: Run): string[] {
  const parts: string[] = [];
  if (run.figures) parts.push(`n = ${countText(report, run.figures.samples)}`);
  if (run.warm_up_s > 0) parts.push(`without ${long(run.warm_up_s)} of warm-up`);
  const bin = run.series?.bin_s ?? 1;
  const { series } = run;
  const isBanded = Object.keys(series?.tracks ?? {}).some((key) => {
    const points = series ? pointsOf(series, key) : undefined;
    return points?.low && points.high;
  });
  if (bin === 1) parts.push('1 s per point');
  else parts.push(`${long(bin)} per point${isBanded ? '; band: lowest to highest second' : ''}`);
  return parts;
}
