/** Marks the warm-up and the events of a run on its charts. */

import type uPlot from 'uplot';
import { cssColor } from '../colors';
import { fontOf, TEXT_PX } from './plot';

export interface RunEvents {
  warm_up_s: number;
  events: readonly { at_s: number; text: string }[];
}

/** Shades the warm-up; the first chart of a column labels it. */
export function drawWarmUp(chart: uPlot, scale: number, { warm_up_s }: RunEvents, isLabeled: boolean): void {
  if (warm_up_s <= 0) return;
  const { ctx, bbox } = chart;
  const left = Math.max(chart.valToPos(-warm_up_s, 'x', true), bbox.left);
  const right = Math.min(chart.valToPos(0, 'x', true), bbox.left + bbox.width);
  const width = right - left;
  ctx.save();
  ctx.fillStyle = cssColor('--muted');
  ctx.globalAlpha = 0.13;
  ctx.fillRect(left, bbox.top, width, bbox.height);
  ctx.globalAlpha = 1;
  if (isLabeled && width > 2 * scale) {
    ctx.font = fontOf(TEXT_PX * scale);
    ctx.textBaseline = 'bottom';
    ctx.textAlign = 'left';
    const isInside = ctx.measureText('warm-up').width + 6 * scale < width;
    const [text, at] = isInside ? ['warm-up', left] : ['◂ warm-up', right];
    ctx.fillText(text, at + 3 * scale, bbox.top + bbox.height - 3 * scale);
  }
  ctx.restore();
}

/** An outline in the background color, so that lines do not cross the text. */
function halo(ctx: CanvasRenderingContext2D, text: string, x: number, y: number, scale: number): void {
  ctx.save();
  ctx.setLineDash([]);
  ctx.strokeStyle = cssColor('--panel');
  ctx.lineWidth = 3 * scale;
  ctx.lineJoin = 'round';
  ctx.strokeText(text, x, y);
  ctx.restore();
}

/** A line for each event; the first chart of a column labels them with numbers, and texts if they fit. */
export function drawEvents(chart: uPlot, scale: number, { events }: RunEvents, isLabeled: boolean): void {
  const { ctx, bbox } = chart;
  const end = bbox.left + bbox.width;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = cssColor('--ink');
  ctx.lineWidth = scale;
  ctx.setLineDash([2 * scale, 3 * scale]);
  ctx.font = fontOf(TEXT_PX * scale);
  ctx.textBaseline = 'top';
  ctx.textAlign = 'left';
  const places = events.map(({ at_s }) => chart.valToPos(at_s, 'x', true));
  let free = bbox.left;
  places.forEach((x, index) => {
    if (!(x >= bbox.left && x <= end)) return;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    if (!isLabeled || x < free) return;
    const next = Math.min(places[index + 1] ?? end, end);
    const choices = [`${index + 1} ${events[index]?.text ?? ''}`, String(index + 1)];
    const room = next - x - 6 * scale;
    const text = choices.find((each) => each.length < 120 && ctx.measureText(each).width <= room);
    if (text === undefined) return;
    halo(ctx, text, x + 4 * scale, bbox.top + scale, scale);
    ctx.fillText(text, x + 4 * scale, bbox.top + scale);
    free = x + ctx.measureText(text).width;
  });
  ctx.restore();
}

/** Shades the time of an event from its begin at 0, and marks when the load was as before. */
export function drawEventSpan(chart: uPlot, scale: number, ended: number, recovered: number | null): void {
  const { ctx, bbox } = chart;
  const at = (seconds: number): number =>
    Math.min(Math.max(chart.valToPos(seconds, 'x', true), bbox.left), bbox.left + bbox.width);
  const vertical = (x: number, dash: number[]): void => {
    ctx.setLineDash(dash.map((length) => length * scale));
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  };
  ctx.save();
  ctx.fillStyle = ctx.strokeStyle = cssColor('--ink');
  ctx.globalAlpha = 0.1;
  ctx.fillRect(at(0), bbox.top, at(ended) - at(0), bbox.height);
  ctx.globalAlpha = 0.8;
  ctx.lineWidth = scale;
  vertical(at(0), []);
  if (recovered !== null) vertical(at(recovered), [4, 3]);
  ctx.restore();
}
