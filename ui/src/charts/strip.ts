/** A heat map over time with one strip per core: its CPU use. */

import type uPlot from 'uplot';
import { rgb, shade } from '../views/heat';
import { timeTexts, type Stretch } from '../views/clock';
import { cssColor } from '../colors';
import { h } from '../dom';
import { LEFT_PX, plot, type Plot } from './plot';

export interface Strip {
  label: string;
  /** From 0 to 1, or null. */
  shares: readonly (number | null)[];
}

const SHADES = 64;

export type StripPlot = Pick<Plot, 'label' | 'width' | 'tip' | 'sync' | 'stack' | 'over'> & {
  strips: Strip[];
  bin_s: number;
  bins: number;
  /** When the first bin begins. */
  begin: number;
  stretch: Stretch;
};

/** High enough to distinguish the strips, up to a limit. */
export function heightOf(strips: number): number {
  return 28 + Math.min(Math.max(strips * 18, 36), Math.max(220, strips * 2));
}

export function stripPlot(host: HTMLElement, options: StripPlot): uPlot {
  const { strips, bins, bin_s, begin, stretch } = options;
  const every = Math.ceil(strips.length / Math.max(1, Math.floor((heightOf(strips.length) - 28) / 14)));
  const ticks = strips.flatMap(({ label }, index) =>
    index % every === 0 ? [{ value: strips.length - index - 0.5, text: label }] : [],
  );
  const middles = Array.from({ length: bins }, (_, bin) => begin + (bin + 0.5) * bin_s);
  return plot(host, {
    ...options,
    height: heightOf(strips.length),
    x: { low: stretch.from, high: stretch.until, ticks: timeTexts(stretch, options.width - LEFT_PX) },
    y: { low: 0, high: strips.length, ticks, is_log: false },
    data: [middles, ...strips.map(() => middles.map(() => null))],
    styles: [],
    under: (chart) => {
      paint(chart, strips, begin, bin_s);
    },
  });
}

function paint(chart: uPlot, strips: Strip[], begin: number, bin_s: number): void {
  const { ctx, bbox } = chart;
  const shades = palette();
  const height = bbox.height / strips.length;
  const gap = height >= 10 ? 1 : 0;
  ctx.save();
  strips.forEach(({ shares }, index) => {
    const top = Math.round(bbox.top + index * height);
    const bottom = Math.round(bbox.top + (index + 1) * height) - gap;
    shares.forEach((share, bin) => {
      if (share === null) return;
      const left = Math.round(chart.valToPos(begin + bin * bin_s, 'x', true));
      const right = Math.round(chart.valToPos(begin + (bin + 1) * bin_s, 'x', true));
      ctx.fillStyle = shades[Math.round(Math.min(1, Math.max(0, share)) * SHADES)] ?? '';
      ctx.fillRect(left, top, Math.max(1, right - left), bottom - top);
    });
  });
  ctx.restore();
}

function palette(): string[] {
  const stops = [0, 1, 2, 3, 4, 5].map((step) => rgb(cssColor(`--heat-${step}`)));
  return Array.from({ length: SHADES + 1 }, (_, step) => shade(step / SHADES, stops));
}

/** The legend of the shades. */
export function shadesKey(): HTMLElement {
  const swatches = [0, 1, 2, 3, 4, 5].map((step) => h('i', { class: `heat-${step}` }));
  return h(
    'div',
    { class: 'keys shades' },
    h('span', {}, 'idle, 0 %'),
    ...swatches,
    h('span', {}, 'busy, 100 %'),
  );
}
