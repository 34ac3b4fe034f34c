/** The part of the page that is about one load, for each load. Several loads take turns; on paper all are there. */

import type { Report } from '../report';
import type { LoadSection } from '../sections';
import { append, h } from '../dom';

export function loads(report: Report, sections: LoadSection[]): HTMLElement {
  const part = h('div', { class: 'loads' });
  for (const load of report.loads) {
    const panel = h('div', { class: 'load' });
    for (const section of sections) append(panel, section(report, load));
    append(part, panel);
  }
  return part;
}
