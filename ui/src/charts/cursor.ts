/** The cursor of a chart and its tooltip, for mouse, touch, and keyboard. */

import type uPlot from 'uplot';
import { hideTooltip, showTooltip } from '../tooltip';

interface Driven {
  data: readonly unknown[][];
  tip: (column: number) => string[];
  stack?: Stack;
}

/** The position of a chart in a column of charts. */
export interface Stack {
  frames: Map<number, HTMLElement>;
  index: number;
}

/** uPlot's types lack the third parameter: whether charts with the same key follow. */
type SetCursor = (index: { left: number; top: number }, isFired?: boolean, isShared?: boolean) => void;

export function attachCursor(chart: uPlot, frame: HTMLElement, options: Driven): void {
  let isMine = false;
  const show = (): void => {
    const column = chart.cursor.idx;
    const lines = typeof column === 'number' ? options.tip(column) : [];
    if (lines.length === 0) {
      hideTooltip();
      return;
    }
    const { left, top } = chart.over.getBoundingClientRect();
    showTooltip(left + (chart.cursor.left ?? 0), top + Math.max(0, chart.cursor.top ?? 0), lines);
  };
  chart.hooks.setCursor = [
    () => {
      if (isMine && (chart.cursor.left ?? -1) >= 0) show();
    },
  ];
  const leave = (): void => {
    isMine = false;
    hideTooltip();
  };
  chart.over.addEventListener('mouseenter', () => (isMine = true));
  chart.over.addEventListener('mouseleave', leave);
  chart.over.addEventListener('pointermove', (event) => {
    if (event.pointerType !== 'touch') return;
    isMine = true;
    move(chart, event.offsetX);
  });
  frame.addEventListener('blur', () => {
    leave();
    move(chart, -10);
  });
  frame.addEventListener('keydown', (event) => {
    const at = target(event.key, chart, options.data[0]?.length ?? 0);
    if (at !== null) {
      event.preventDefault();
      isMine = true;
      move(chart, chart.valToPos(chart.data[0][at] ?? 0, 'x'));
    } else if (event.key === 'Escape') {
      leave();
      move(chart, -10);
    }
  });
  if (options.stack) stacked(frame, options.stack);
}

function move(chart: uPlot, left: number): void {
  const set: SetCursor = chart.setCursor.bind(chart);
  set({ left, top: left < 0 ? left : chart.over.clientHeight / 3 }, true, true);
}

/** The data column that a key moves to. */
function target(key: string, chart: uPlot, columns: number): number | null {
  const now = typeof chart.cursor.idx === 'number' ? chart.cursor.idx : -1;
  const last = columns - 1;
  const far = Math.max(1, Math.round(columns / 20));
  switch (key) {
    case 'ArrowRight':
      return Math.min(last, now + 1);
    case 'ArrowLeft':
      return now < 0 ? last : Math.max(0, now - 1);
    case 'PageDown':
      return Math.min(last, now + far);
    case 'PageUp':
      return Math.max(0, now - far);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return null;
  }
}

function stacked(frame: HTMLElement, { frames, index }: Stack): void {
  const others = [...frames].filter(([other]) => other !== index);
  frame.tabIndex = others.some(([, other]) => other.tabIndex === 0) ? -1 : 0;
  frames.set(index, frame);
  frame.addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const indexes = [...frames.keys()].sort((a, b) => a - b);
    const next = step === 0 ? undefined : frames.get(indexes[indexes.indexOf(index) + step] ?? -1);
    if (!next) return;
    event.preventDefault();
    frame.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}
