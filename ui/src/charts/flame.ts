/** A flame graph, callers above: boxes that zoom, by click and by keyboard. */

import { s } from '../dom';
import { addTooltip } from '../tooltip';
import { boxes, neighbor, type Box, type Call } from '../views/flame';
import { cut } from '../views/text';
import { round, word } from './marks';
import { chart } from './rows';

const HIGH = 19;
const SIZE = 11.5;
/** Below this width, a box has no text. */
const TEXT_MIN = 26;

export interface Flame {
  calls: Call[];
  title: string;
  width: number;
  /** The call that fills the width; -1 for all. */
  zoom: number;
  /** The box that the Tab key leads to. */
  focus: number;
  /** Calls that a search found; null without a search. */
  matches: Set<number> | null;
  color: (call: Call, index: number) => string;
  text: (call: Call, index: number) => string;
  /** Title first. */
  lines: (call: Call, index: number) => string[];
  zoomTo: (index: number) => void;
  moveTo: (index: number) => void;
}

export function flameChart(flame: Flame): SVGSVGElement {
  const drawn = boxes(flame.calls, flame.zoom, flame.width);
  const depth = Math.max(0, ...drawn.map(({ call }) => call.depth));
  const svg = chart(flame.width, (depth + 1) * HIGH + 2, flame.title);
  svg.classList.add('flame');
  const marks = new Map<number, SVGGElement>();
  const first = drawn.some(({ index }) => index === flame.focus) ? flame.focus : drawn[0]?.index;
  for (const box of drawn) {
    const mark = boxMark(flame, box);
    mark.setAttribute('tabindex', box.index === first ? '0' : '-1');
    mark.addEventListener('keydown', (event) => {
      pressed(flame, drawn, marks, box.index, event);
    });
    marks.set(box.index, mark);
    svg.append(mark);
  }
  return svg;
}

function boxMark(flame: Flame, { index, call, x, width }: Box): SVGGElement {
  const { matches } = flame;
  const state = matches === null ? '' : matches.has(index) ? ' match' : ' other';
  const y = call.depth * HIGH + 1;
  const lines = (): string[] => flame.lines(call, index);
  const mark = s(
    'g',
    {
      class: `call ${flame.color(call, index)}${state}`,
      'data-call': index,
      role: 'button',
      'aria-label': lines().join('; '),
    },
    s('rect', { x: round(x), y, width: round(Math.max(0.5, width - 0.6)), height: HIGH - 1, rx: 1.5 }),
    width < TEXT_MIN ? null : word('name', x + 4, y + 13, cut(flame.text(call, index), width - 8, SIZE)),
  );
  addTooltip(mark, lines);
  mark.addEventListener('click', () => {
    flame.zoomTo(index);
  });
  return mark;
}

function pressed(
  flame: Flame,
  drawn: Box[],
  marks: Map<number, SVGGElement>,
  index: number,
  event: KeyboardEvent,
): void {
  const { key } = event;
  if (key === 'Enter' || key === ' ') {
    event.preventDefault();
    flame.zoomTo(index);
    return;
  }
  if (key === 'Escape') {
    flame.zoomTo(-1);
    return;
  }
  const next = neighbor(drawn, index, key);
  const mark = marks.get(next);
  if (next === index || !mark) return;
  event.preventDefault();
  marks.get(index)?.setAttribute('tabindex', '-1');
  mark.setAttribute('tabindex', '0');
  flame.moveTo(next);
  mark.focus();
}
