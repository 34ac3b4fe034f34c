/** A picture of rows below each other on one axis: names at the left, marks in the middle, a figure at the right. */

import { s } from '../dom';
import { tip } from '../tooltip';
import type { Room, Scale } from '../views/scale';
import { cut, textWidth } from '../views/text';
import { line, word } from './marks';
import { rove, type Stop } from './rove';

export interface Item {
  label: string;
  /** Rows of a group stand under its name; empty for none. */
  group: string;
  /** Sets the colour. */
  color: string;
  is_best: boolean;
  /** At the right; may be empty. */
  figure: string;
  /** Above the figure where names are above the marks, else beside it. */
  aside?: string;
  /** The exact values, the title first. */
  lines: () => string[];
  draw: (place: Place) => void;
}

export interface Place {
  parts: SVGGElement;
  scale: Scale;
  /** The middle of the row. */
  y: number;
  /** How high marks may be. */
  height: number;
}

export interface Rows {
  width: number;
  items: Item[];
  scale: (room: Room) => Scale;
  /** For those who cannot see it. */
  title: string;
  /** Drawn below the marks. */
  backdrop?: (parts: SVGGElement, scale: Scale, top: number, foot: number) => void;
  /** Narrow pictures have the names above the marks. */
  is_narrow?: boolean;
  /** Without names, for a picture beside one that has them: its rows lie at the same heights. */
  has_names?: boolean;
  /** The height of a row's marks. */
  height?: number;
  /** Room for words of the backdrop below the marks. */
  foot?: number;
}

const SIZE = 12.5;
const AXIS = 22;
const HEAD = 26;

export function rows(options: Rows): SVGSVGElement {
  const { width, items } = options;
  const hasNames = options.has_names ?? true;
  const isNarrow = hasNames && (options.is_narrow ?? width < 480);
  const height = options.height ?? (items.length > 24 ? 18 : 24);
  const left = isNarrow || !hasNames ? 8 : labelRoom(items, width);
  const right = Math.max(14, ...items.map((item) => textWidth(rightText(item, isNarrow), SIZE) + 16));
  const scale = options.scale({ from: left, to: Math.max(left + 40, width - right) });
  const above = isNarrow ? 18 : 0;
  const heads = items.filter((_, at) => isHead(items, at)).length;
  const foot = AXIS + heads * HEAD + items.length * (height + above) + 4;
  const isLong = items.length > 14;
  const svg = chart(width, foot + (isLong ? AXIS : (options.foot ?? 2)), options.title);
  const back = svg.appendChild(s('g', { class: 'backdrop' }));
  options.backdrop?.(back, scale, AXIS, foot);
  axis(back, scale, AXIS, foot, isLong);
  const stops: Stop[] = [];
  let y = AXIS;
  items.forEach((item, at) => {
    if (isHead(items, at)) {
      if (hasNames) groupHead(svg, item, y + HEAD - 8, width);
      y += HEAD;
    }
    const parts = svg.appendChild(s('g', { class: `row ${item.color}${item.is_best ? ' best' : ''}` }));
    parts.append(s('rect', { class: 'hit', x: 0, y, width, height: height + above }));
    const middle = y + above + height / 2;
    if (hasNames) name(parts, item, y, isNarrow ? null : { x: left - 12, middle }, width);
    parts.append(word('figure', width - 4, middle + 4, rightText(item, isNarrow), 'end'));
    item.draw({ parts, scale, y: middle, height });
    stops.push({ mark: parts, lines: item.lines });
    y += height + above;
  });
  rove(stops);
  return svg;
}

/** An empty picture of this size; it shrinks with its page. */
export function chart(width: number, height: number, title: string): SVGSVGElement {
  return s('svg', {
    class: 'chart',
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: 'group',
    'aria-label': title,
  });
}

/** A mark with its own exact values for the mouse; the keyboard has those of its row. */
export function pointed(mark: SVGElement, lines: () => string[]): SVGElement {
  tip(mark, lines);
  return mark;
}

/** The name at the left, or above the marks together with what is said of them. */
function name(
  parts: SVGGElement,
  item: Item,
  y: number,
  beside: { x: number; middle: number } | null,
  width: number,
): void {
  const text = item.is_best ? `★ ${item.label}` : item.label;
  const size = item.is_best ? SIZE * 1.06 : SIZE;
  if (beside) {
    parts.append(word('name', beside.x, beside.middle + 4, cut(text, beside.x - 2, size), 'end'));
    return;
  }
  const aside = item.aside ?? '';
  parts.append(word('name', 4, y + 14, cut(text, width - 16 - textWidth(aside, SIZE), size)));
  if (aside) parts.append(word('aside', width - 4, y + 14, aside, 'end'));
}

function rightText(item: Item, isNarrow: boolean): string {
  return item.aside && !isNarrow ? `${item.figure} ${item.aside}` : item.figure;
}

function isHead(items: Item[], at: number): boolean {
  const item = items[at];
  return item !== undefined && item.group !== '' && item.group !== items[at - 1]?.group;
}

function labelRoom(items: Item[], width: number): number {
  const widths = items.map((item) => textWidth(item.is_best ? `★ ${item.label}` : item.label, SIZE * 1.06));
  return Math.min(width * 0.38, Math.max(60, ...widths) + 16);
}

function groupHead(svg: SVGSVGElement, item: Item, y: number, width: number): void {
  const parts = s('g', { class: `group ${item.color}` });
  parts.append(s('rect', { class: 'swatch', x: 4, y: y - 9, width: 10, height: 10, rx: 2 }));
  parts.append(word('group-name', 20, y, cut(item.group, width - 24, SIZE * 1.06)));
  svg.append(parts);
}

function axis(back: SVGGElement, scale: Scale, top: number, foot: number, isLong: boolean): void {
  for (const { value, text } of scale.ticks) {
    const x = scale.at(value);
    back.append(line(value === 0 ? 'zero' : 'grid', x, top, x, foot));
    back.append(word('tick', x, top - 7, text, 'middle'));
    if (isLong) back.append(word('tick', x, foot + 15, text, 'middle'));
  }
}
