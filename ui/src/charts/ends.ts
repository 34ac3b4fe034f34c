/** Words at the ends of lines, moved apart where lines end close to each other. */

import type uPlot from 'uplot';
import { apart } from '../views/apart';
import { cssColor } from '../colors';
import { fontOf, TEXT_PX } from './plot';

export interface End {
  words: string;
  /** Where the line ends, on the scales of the chart. */
  x: number;
  y: number;
}

/** `scale` is pixels of the canvas for each of the page. */
export function paintEnds(chart: uPlot, scale: number, ends: End[]): void {
  const { ctx, bbox } = chart;
  const places = ends.map(({ y }) => chart.valToPos(y, 'y', true));
  const rows = apart(places, 14 * scale, bbox.top, bbox.top + bbox.height);
  ctx.save();
  ctx.font = fontOf((TEXT_PX + 1) * scale);
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  ctx.fillStyle = cssColor('--ink');
  ctx.strokeStyle = cssColor('--panel');
  ctx.lineWidth = 3 * scale;
  ctx.lineJoin = 'round';
  ends.forEach(({ words, x }, place) => {
    const row = rows[place];
    if (row === undefined || row === null) return;
    const left = chart.valToPos(x, 'x', true) + 10 * scale;
    const text = cut(ctx, words, ctx.canvas.width - left - 2 * scale);
    ctx.strokeText(text, left, row);
    ctx.fillText(text, left, row);
  });
  ctx.restore();
}

function cut(ctx: CanvasRenderingContext2D, words: string, room: number): string {
  let text = words.slice(0, 60);
  if (text === words && ctx.measureText(text).width <= room) return text;
  while (text.length > 1 && ctx.measureText(`${text}…`).width > room) text = text.slice(0, -1);
  return `${text}…`;
}
