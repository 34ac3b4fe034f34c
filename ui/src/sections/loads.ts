/** The part of the page that is about one load, for each load. Several loads take turns; on paper all are there. */

import type { Report } from '../report';
import type { Group, LoadSection } from '../sections';
import { append, h } from '../dom';
import { group } from '../group';

export function loads(report: Report, groups: Group<LoadSection>[]): HTMLElement {
  const part = h('div', { class: 'loads' });
  report.loads.forEach((load, place) => {
    const panel = h('div', { class: 'load' });
    for (const { id, title, sections } of groups) {
      const made = sections.map((section) => section(report, load));
      append(panel, group(place === 0 ? id : `${id}-${place + 1}`, title, made));
    }
    append(part, panel);
  });
  return part;
}
