/** Machine, versions, configuration, and the commands that repeat the measurement. */

import type { Fact, Report } from '../report';
import { h, type Child } from '../dom';
import { copyButton } from '../copy';

export function facts(report: Report): HTMLElement | null {
  if (report.facts.length === 0) return null;
  return h('dl', { class: 'panel facts' }, ...report.facts.flatMap(({ name, value }) => pair(name, value)));
}

export function commands(report: Report): HTMLElement | null {
  if (report.commands.length === 0) return null;
  return h('div', { class: 'panel commands' }, h('h3', {}, 'Commands'), ...report.commands.map(command));
}

function pair(name: string, ...value: Child[]): HTMLElement[] {
  return [h('dt', {}, name), h('dd', {}, ...value)];
}

function command({ name, value }: Fact): HTMLElement {
  return h(
    'div',
    { class: 'command' },
    h('span', { class: 'command-name' }, name),
    h('code', {}, value),
    copyButton('Copy', name, () => value),
  );
}
