/** A chart with one row per item on a common axis: names at the left, marks at the center, values at the right. */

import { s } from '../dom';
import { addTooltip } from '../tooltip';
import type { Room, Scale } from '../views/scale';
import { cut, textWidth } from '../views/text';
import { line, word } from './marks';
import { rovingFocus, type Stop } from './roving_focus';

export interface Item {
  label: string;
  /** Second part of the name, on its own line if names are above the marks. */
  more?: string;
  /** The heading above the row; empty for none. */
  group: string;
  /** The class that sets the color. */
  color: string;
  is_winner: boolean;
  /** At the right; may be empty. */
  figure: string;
  /** Above the value if names are above the marks, else next to it. */
  aside?: string;
  /** The tooltip lines, the title first. */
  lines: () => string[];
  draw: (place: Place) => void;
}

export interface Place {
  parts: SVGGElement;
  scale: Scale;
  /** The middle of the row. */
  y: number;
  /** The maximum height of marks. */
  height: number;
}

/** A vertical range. */
export interface Band {
  top: number;
  bottom: number;
}

export interface Rows {
  width: number;
  items: Item[];
  scale: (room: Room) => Scale;
  /** The title of the values at the right. */
  figures: string;
  /** The label for screen readers. */
  title: string;
  /** Draws below the marks, in the ranges of the rows; its labels go below `bottom`. */
  backdrop?: (parts: SVGGElement, scale: Scale, bands: Band[], bottom: number) => void;
  /** Narrow charts have the names above the marks. */
  is_narrow?: boolean;
  /** False for a chart next to one with names, whose rows have the same heights. */
  has_names?: boolean;
  /** The height of a row's marks. */
  height?: number;
  /** Space for labels of the backdrop below the marks. */
  bottom?: number;
}

const SIZE = 12.5;
const BOLD = SIZE * 1.12;
const AXIS = 24;
const HEAD = 28;
/** The width of the column of stars. */
const STAR = 18;
/** Between marks and the name of the next row. */
const GAP = 4;

interface Layout {
  width: number;
  left: number;
  right: number;
  /** Names are at the left, above the marks, or omitted. */
  names: 'left' | 'above' | 'none';
  /** Space above the marks. */
  above: number;
  height: number;
}

export function rows(options: Rows): SVGSVGElement {
  const { items } = options;
  const layout = layoutOf(options);
  const { width, left, right, names, above, height } = layout;
  const scale = options.scale({ from: left, to: Math.max(left + 40, width - right) });
  const heads = items.filter((_, at) => isHead(items, at)).length;
  const bottom = AXIS + heads * HEAD + items.length * (height + above) + 4;
  const isLong = items.length > 14;
  const svg = chart(width, bottom + (isLong ? AXIS : (options.bottom ?? 2)), options.title);
  const back = svg.appendChild(s('g', { class: 'backdrop' }));
  const bands = names === 'above' ? ofMarks(items, layout) : [{ top: AXIS, bottom }];
  axis(back, scale, bands, isLong ? bottom : null, width - right + 4);
  options.backdrop?.(back, scale, bands, bottom);
  back.append(word('tick', width - 4, AXIS - 8, options.figures, 'end'));
  const stops: Stop[] = [];
  let y = AXIS;
  items.forEach((item, at) => {
    if (isHead(items, at)) {
      if (names !== 'none') groupHead(svg, item, y + HEAD - 9, width);
      y += HEAD;
    }
    const parts = svg.appendChild(s('g', { class: `row ${item.color}${item.is_winner ? ' best' : ''}` }));
    parts.append(s('rect', { class: 'hit', x: 0, y, width, height: height + above }));
    const high = above > 0 ? height - GAP : height;
    const middle = y + above + high / 2;
    if (names === 'left') nameAtLeft(parts, item, middle, layout);
    if (names === 'above') nameAbove(parts, item, y, layout);
    parts.append(word('figure', width - 4, middle + 4, rightText(item, layout), 'end'));
    item.draw({ parts, scale, y: middle, height: high });
    stops.push({ mark: parts, lines: item.lines });
    y += height + above;
  });
  rovingFocus(stops);
  return svg;
}

/** The vertical ranges of the marks; names above them have no shading. */
function ofMarks(items: Item[], { above, height }: Layout): Band[] {
  let y = AXIS;
  return items.map((_, at) => {
    if (isHead(items, at)) y += HEAD;
    const top = y + above;
    y = top + height;
    return { top, bottom: y - GAP };
  });
}

function layoutOf(options: Rows): Layout {
  const { width, items } = options;
  const isNarrow = (options.is_narrow ?? width < 480) || wouldBeCut(items, nameRoom(items, width));
  const names = options.has_names === false ? 'none' : isNarrow ? 'above' : 'left';
  const lines = items.some((item) => item.more !== undefined) ? 2 : 1;
  const layout: Layout = {
    width,
    left: names === 'left' ? nameRoom(items, width) : 10,
    right: 0,
    names,
    above: names === 'above' ? GAP + 16 * lines : 0,
    height: options.height ?? (items.length > 30 ? 20 : 26),
  };
  const texts = [options.figures, ...items.map((item) => rightText(item, layout))];
  layout.right = Math.max(14, ...texts.map((text) => textWidth(text, SIZE) + 18));
  return layout;
}

/** Whether names would be cut at the left of the marks: their second parts distinguish the rows. */
function wouldBeCut(items: Item[], room: number): boolean {
  return items.some((item) => {
    const name = wholeName(item);
    return item.more !== undefined && cut(name, room - STAR - 8, SIZE) !== name;
  });
}

/** An empty chart of this size, which shrinks with the page. */
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

/** Adds a tooltip of its own to a mark for the mouse; the keyboard shows the tooltip of the row. */
export function pointed(mark: SVGElement, lines: () => string[]): SVGElement {
  addTooltip(mark, lines);
  return mark;
}

function nameAtLeft(parts: SVGGElement, item: Item, middle: number, { left }: Layout): void {
  if (item.is_winner) parts.append(word('name', 3, middle + 4, '★'));
  const size = item.is_winner ? BOLD : SIZE;
  parts.append(word('name', STAR, middle + 4, cut(wholeName(item), left - STAR - 8, size)));
}

function nameAbove(parts: SVGGElement, item: Item, y: number, { width }: Layout): void {
  const text = item.is_winner ? `★ ${item.label}` : item.label;
  const aside = item.aside ?? '';
  const room = width - 16 - textWidth(aside, SIZE);
  parts.append(word('name', 4, y + 15, cut(text, room, item.is_winner ? BOLD : SIZE)));
  if (item.more !== undefined) parts.append(word('name', 4, y + 31, cut(item.more, width - 8, SIZE)));
  if (aside) parts.append(word('aside', width - 4, y + 15, aside, 'end'));
}

function wholeName(item: Item): string {
  return item.more === undefined ? item.label : `${item.label} ${item.more}`;
}

function rightText(item: Item, { names }: Layout): string {
  return item.aside && names !== 'above' ? `${item.figure} ${item.aside}` : item.figure;
}

function isHead(items: Item[], at: number): boolean {
  const item = items[at];
  return item !== undefined && item.group !== '' && item.group !== items[at - 1]?.group;
}

function nameRoom(items: Item[], width: number): number {
  const widths = items.map((item) => textWidth(wholeName(item), item.is_winner ? BOLD : SIZE));
  return Math.min(width * 0.4, Math.max(60, ...widths) + STAR + 12);
}

function groupHead(svg: SVGSVGElement, item: Item, y: number, width: number): void {
  const parts = s('g', { class: `system-head ${item.color}` });
  parts.append(s('rect', { class: 'system-color', x: 3, y: y - 10, width: 10, height: 10, rx: 2 }));
  parts.append(word('system-name', STAR, y, cut(item.group, width - STAR - 4, BOLD)));
  svg.append(parts);
}

/** Tick labels stay inside the chart and are omitted if they would overlap. They are above the rows, and repeated at `again`. */
function axis(back: SVGGElement, scale: Scale, bands: Band[], again: number | null, end: number): void {
  let last = -Infinity;
  for (const { value, text } of scale.ticks) {
    const x = scale.at(value);
    const half = textWidth(text, 11.5) / 2;
    const place = Math.max(half + 1, Math.min(x, end - half));
    const kind = value === 0 ? 'zero' : 'grid';
    back.append(...bands.map(({ top, bottom }) => line(kind, x, top, x, bottom)));
    if (place - half < last + 4) continue;
    last = place + half;
    back.append(word('tick', place, AXIS - 8, text, 'middle'));
    if (again !== null) back.append(word('tick', place, again + 15, text, 'middle'));
  }
}
