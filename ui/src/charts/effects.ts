/** What each change of an experiment did to throughput: a tick per block, the estimate with its interval, and the prediction. */

import type { EffectOfChange } from '../report_experiment';
import { s } from '../dom';
import { ratios } from '../views/scale';
import { effectLines, effectSpan, effectText } from '../views/effects';
import { line, round } from './marks';
import { rows, type Item, type Place } from './rows';

export function effectsChart(all: EffectOfChange[], color: string, width: number): SVGSVGElement {
  const [low, high] = effectSpan(all);
  return rows({
    width,
    items: all.map((effect) => item(effect, color)),
    scale: (room) => ratios(low, high, room),
    title: 'Throughput with each change ÷ control, log scale',
    backdrop: (parts, scale, bands) => {
      for (const { top, bottom } of bands) parts.append(line('even', scale.at(1), top, scale.at(1), bottom));
    },
    figures: 'ratio, log scale',
    is_narrow: width < 640,
    height: 28,
  });
}

function item(effect: EffectOfChange, color: string): Item {
  return {
    label: effect.name,
    group: '',
    color,
    is_winner: false,
    figure: effectText(effect),
    aside: effect.finding,
    lines: () => effectLines(effect),
    draw: (place) => {
      draw(effect, place);
    },
  };
}

function draw({ in_blocks, ratio, interval, predicted }: EffectOfChange, place: Place): void {
  const { parts, scale, y } = place;
  for (const block of in_blocks) parts.append(line('block', scale.at(block), y - 10, scale.at(block), y - 4));
  if (predicted !== null) parts.append(prediction(scale.at(predicted), y + 3));
  if (interval !== null) {
    const [from, to] = [scale.at(interval[0]), scale.at(interval[1])];
    parts.append(line('interval', from, y + 3, to, y + 3));
    parts.append(line('interval-end', from, y - 1, from, y + 7), line('interval-end', to, y - 1, to, y + 7));
  }
  if (ratio !== null) {
    parts.append(s('circle', { class: 'dot estimate', cx: round(scale.at(ratio)), cy: y + 3, r: 5 }));
  }
}

/** A hollow diamond. */
export function prediction(x: number, y: number): SVGElement {
  return s('path', { class: 'dot hollow prediction', d: `M${round(x - 7)} ${round(y)}l7 -7l7 7l-7 7Z` });
}
