/** Decodes Chromium's screenshots: PNG with 8 bits per channel, RGB or RGBA, not interlaced. */

import { inflateSync } from 'node:zlib';

export interface Bitmap {
  width: number;
  height: number;
  /** Three bytes per pixel: red, green, blue. */
  rgb: Uint8Array;
}

export function decoded(png: Buffer): Bitmap {
  let width = 0;
  let height = 0;
  let channels = 0;
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    const kind = png.toString('latin1', at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + length);
    if (kind === 'IHDR') {
      width = body.readUInt32BE(0);
      height = body.readUInt32BE(4);
      channels = body[9] === 6 ? 4 : 3;
      if (body[8] !== 8 || (body[9] !== 2 && body[9] !== 6) || body[12] !== 0) {
        throw new Error(`not a PNG of 8-bit RGB or RGBA: ${[...body].join(' ')}`);
      }
    }
    if (kind === 'IDAT') parts.push(body);
    at += 12 + length;
  }
  return { width, height, rgb: withoutFilters(inflateSync(Buffer.concat(parts)), width, height, channels) };
}

/** The part of a bitmap inside this box, in pixels. */
export function cropped(
  { width, height, rgb }: Bitmap,
  box: { left: number; top: number; width: number; height: number },
): Bitmap {
  const [left, top] = [Math.max(0, Math.round(box.left)), Math.max(0, Math.round(box.top))];
  const right = Math.min(width, Math.round(box.left + box.width));
  const bottom = Math.min(height, Math.round(box.top + box.height));
  const part = new Uint8Array((right - left) * (bottom - top) * 3);
  for (let y = top; y < bottom; y += 1) {
    const row = rgb.subarray((y * width + left) * 3, (y * width + right) * 3);
    part.set(row, (y - top) * (right - left) * 3);
  }
  return { width: right - left, height: bottom - top, rgb: part };
}

function withoutFilters(data: Buffer, width: number, height: number, channels: number): Uint8Array {
  const stride = width * channels;
  const bytes = new Uint8Array(stride * height);
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    const filter = data[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x += 1) {
      const here = y * stride + x;
      const left = x >= channels ? (bytes[here - channels] ?? 0) : 0;
      const up = y > 0 ? (bytes[here - stride] ?? 0) : 0;
      const corner = y > 0 && x >= channels ? (bytes[here - stride - channels] ?? 0) : 0;
      bytes[here] = (data[y * (stride + 1) + 1 + x] ?? 0) + predicted(filter, left, up, corner);
    }
  }
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    for (let channel = 0; channel < 3; channel += 1) {
      rgb[pixel * 3 + channel] = bytes[pixel * channels + channel] ?? 0;
    }
  }
  return rgb;
}

/** The prediction of a byte from its neighbors. */
function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const guess = left + up - corner;
  const [byLeft, byUp, byCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}
