/** Labels at the ends of lines, moved apart if they would overlap. */

import type uPlot from 'uplot';
import { avoidOverlap } from '../views/avoid_overlap';
import { cssColor } from '../colors';
import { fontOf, TEXT_PX } from './plot';

export interface End {
  words: string;
  /** The end of the line, in the units of the axes. */
  x: number;
  y: number;
}

/** `scale` is canvas pixels per CSS pixel. */
export function paintEnds(chart: uPlot, scale: number, ends: End[]): void {
  const { ctx, bbox } = chart;
  const places = ends.map(({ y }) => chart.valToPos(y, 'y', true));
  const rows = avoidOverlap(places, 14 * scale, bbox.top, bbox.top + bbox.height);
  ctx.save();
  ctx.font = fontOf((TEXT_PX + 1) * scale);
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  ctx.fillStyle = cssColor('--ink');
  ctx.strokeStyle = cssColor('--panel');
  ctx.lineWidth = 3 * scale;
  ctx.lineJoin = 'round';
  ends.forEach(({ words, x }, index) => {
    const row = rows[index];
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
