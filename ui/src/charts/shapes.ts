/** The shapes of systems on canvases, the same as `shape` of marks.ts draws in SVG. */

import { cssColor } from '../colors';

/** Filled, with an outline in the background color that separates it from lines. */
export function paintShape(
  ctx: CanvasRenderingContext2D,
  index: number,
  x: number,
  y: number,
  size: number,
  color: string,
): void {
  ctx.save();
  ctx.beginPath();
  outline(ctx, index % 4, x, y, size);
  ctx.fillStyle = color;
  ctx.strokeStyle = cssColor('--panel');
  ctx.lineWidth = size * 0.8;
  ctx.lineJoin = 'round';
  ctx.stroke();
  ctx.fill();
  ctx.restore();
}

function outline(ctx: CanvasRenderingContext2D, form: number, x: number, y: number, size: number): void {
  if (form === 0) {
    ctx.arc(x, y, size, 0, 2 * Math.PI);
    return;
  }
  const side = size * 0.9;
  if (form === 1) {
    ctx.rect(x - side, y - side, side * 2, side * 2);
    return;
  }
  const corners =
    form === 2
      ? [
          [0, -1.2],
          [1.15, 0.8],
          [-1.15, 0.8],
        ]
      : [
          [0, -1.3],
          [1.3, 0],
          [0, 1.3],
          [-1.3, 0],
        ];
  for (const [dx = 0, dy = 0] of corners) ctx.lineTo(x + dx * size, y + dy * size);
  ctx.closePath();
}
