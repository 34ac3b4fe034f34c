/** A picture of rows below each other on one axis: names at the left, marks in the middle, a figure at the right. */

import { s } from '../dom';
import { tip } from '../tooltip';
import type { Room, Scale } from '../views/scale';
import { cut, textWidth } from '../views/text';
import { line, word } from './marks';
import { rove, type Stop } from './rove';

export interface Item {
  label: string;
  /** More of the name, on a line of its own where names are above the marks. */
  more?: string;
  /** Rows of a group stand under its name; empty for none. */
  group: string;
  /** Sets the colour. */
  color: string;
  is_winner: boolean;
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

/** A part of the height. */
export interface Stretch {
  top: number;
  foot: number;
}

export interface Rows {
  width: number;
  items: Item[];
  scale: (room: Room) => Scale;
  /** What the figures at the right are. */
  figures: string;
  /** For those who cannot see it. */
  title: string;
  /** Drawn on the lines of the axis where marks are, and below the marks; words of it stand below `foot`. */
  backdrop?: (parts: SVGGElement, scale: Scale, stretches: Stretch[], foot: number) => void;
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
const BOLD = SIZE * 1.12;
const AXIS = 24;
const HEAD = 28;
/** Stars stand in a column of their own. */
const STAR = 18;
/** Between marks and the name of the next row. */
const GAP = 4;

interface Layout {
  width: number;
  left: number;
  right: number;
  /** Names are at the left, above the marks, or not there. */
  names: 'left' | 'above' | 'none';
  /** Room above the marks. */
  above: number;
  height: number;
}

export function rows(options: Rows): SVGSVGElement {
  const { items } = options;
  const layout = layoutOf(options);
  const { width, left, right, names, above, height } = layout;
  const scale = options.scale({ from: left, to: Math.max(left + 40, width - right) });
  const heads = items.filter((_, at) => isHead(items, at)).length;
  const foot = AXIS + heads * HEAD + items.length * (height + above) + 4;
  const isLong = items.length > 14;
  const svg = chart(width, foot + (isLong ? AXIS : (options.foot ?? 2)), options.title);
  const back = svg.appendChild(s('g', { class: 'backdrop' }));
  const stretches = names === 'above' ? ofMarks(items, layout) : [{ top: AXIS, foot }];
  axis(back, scale, stretches, isLong ? foot : null, width - right + 4);
  options.backdrop?.(back, scale, stretches, foot);
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
  rove(stops);
  return svg;
}

/** The line of each row's marks: names above them stand on plain paper. */
function ofMarks(items: Item[], { above, height }: Layout): Stretch[] {
  let y = AXIS;
  return items.map((_, at) => {
    if (isHead(items, at)) y += HEAD;
    const top = y + above;
    y = top + height;
    return { top, foot: y - GAP };
  });
}

function layoutOf(options: Rows): Layout {
  const { width, items } = options;
  const isNarrow = (options.is_narrow ?? width < 480) || loseTheirEnds(items, nameRoom(items, width));
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

/** Whether names of two parts would be cut beside their marks: the second parts tell the rows apart. */
function loseTheirEnds(items: Item[], room: number): boolean {
  return items.some((item) => {
    const name = wholeName(item);
    return item.more !== undefined && cut(name, room - STAR - 8, SIZE) !== name;
  });
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

/** Words at the ends stay inside the picture; those that would touch the one before are left out. They stand above, and below `again`. */
function axis(
  back: SVGGElement,
  scale: Scale,
  stretches: Stretch[],
  again: number | null,
  end: number,
): void {
  let last = -Infinity;
  for (const { value, text } of scale.ticks) {
    const x = scale.at(value);
    const half = textWidth(text, 11.5) / 2;
    const place = Math.max(half + 1, Math.min(x, end - half));
    const kind = value === 0 ? 'zero' : 'grid';
    back.append(...stretches.map(({ top, foot }) => line(kind, x, top, x, foot)));
    if (place - half < last + 4) continue;
    last = place + half;
    back.append(word('tick', place, AXIS - 8, text, 'middle'));
    if (again !== null) back.append(word('tick', place, again + 15, text, 'middle'));
  }
}
