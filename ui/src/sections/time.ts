/** Throughput, response time, send delay, and errors over time, of one run or of two side by side. */

import type { Load, Report, TimeChart } from '../report';
import { isOfLoad } from '../views/bins';
import { binned } from '../views/binned';
import { CURVE_MIN_S, hasCurves, runLabel } from '../views/choice';
import { h } from '../dom';
import { card, redraw } from '../card';
import { numbers, type Numbers } from '../numbers';
import { choices, panesOf, type Panes } from './panes';
import { drawStack } from './stacked';

export function time(report: Report, load: Load): HTMLElement | null {
  const charts = report.charts.filter(isOfLoad);
  const panes = panesOf(report, load);
  if (!panes || charts.length === 0) return null;
  if (!hasCurves(report, load)) {
    return h('p', { class: 'no-curves' }, `Runs shorter than ${CURVE_MIN_S} s have no charts over time.`);
  }
  return timeCard(report, load, panes, {
    id: 'load-over-time',
    title: 'Load over time',
    about: `${sides(panes)}x: time since the end of the warm-up, in minutes and seconds.`,
    charts,
    controls: choices(report, load, panes),
  });
}

interface Stacked {
  id: string;
  title: string;
  about: string;
  charts: TimeChart[];
  controls?: HTMLElement[];
  /** Draws below the charts. */
  below?: (host: HTMLElement) => void;
}

/** A card whose charts follow the selected runs. */
export function timeCard(report: Report, load: Load, panes: Panes, stacked: Stacked): HTMLElement {
  const { charts, below } = stacked;
  const at = report.loads.indexOf(load);
  const figures = (): Numbers => numbersOf(report, load, panes, charts);
  let free: (() => void) | null = null;
  const element = card({
    id: at === 0 ? stacked.id : `${stacked.id}-${at + 1}`,
    title: stacked.title,
    about: stacked.about,
    ...(stacked.controls && stacked.controls.length > 0 ? { controls: stacked.controls } : {}),
    draw: (host, width) => {
      free?.();
      free = drawStack(host, width, report, load, panes, charts);
      below?.(host);
    },
    numbers: figures,
  });
  follow(panes, element, stacked.title, figures);
  return element;
}

/** Makes a card, with its data table if that is open, follow the selected runs. */
export function follow(panes: Panes, element: HTMLElement, title: string, figures: () => Numbers): void {
  element.classList.add('stacked');
  panes.listeners.push(() => {
    redraw(element);
    const old = element.querySelector<HTMLDetailsElement>('details.numbers');
    if (!old?.open) return;
    const fresh = numbers(title, figures);
    old.replaceWith(fresh);
    if (fresh instanceof HTMLDetailsElement) fresh.open = true;
  });
}

function sides({ runs }: Panes): string {
  return runs.length < 2 ? '' : 'Two runs side by side, with the same axes. ';
}

function numbersOf(report: Report, load: Load, panes: Panes, charts: TimeChart[]): Numbers {
  const named = panes.runs.flatMap((index) => {
    const run = report.runs[index];
    if (!run) return [];
    const name = load.rows[run.row]?.name ?? '';
    return [{ name: `${name}, ${runLabel(report, load, run.row, index)}`, run }];
  });
  return binned(charts, named);
}
