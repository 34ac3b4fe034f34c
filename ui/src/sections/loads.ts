/** The sections of each load, in tabs if there are several loads. Print shows all of them. */

import type { Load, Report } from '../report';
import type { Group, LoadSection } from '../sections';
import type { Link } from './nav';
import { guarded } from '../guarded';
import { append, h } from '../dom';
import { group } from '../group';
import { overview } from './overview';

export interface Loads {
  element: HTMLElement;
  /** Renders the next section; false if all are rendered. */
  step: () => boolean;
  /** The links of the selected load. */
  links: () => Link[];
  /** Scrolls to the target of the URL's fragment, and selects its load. */
  followHash: () => void;
}

interface Panel {
  load: Load;
  element: HTMLElement;
  tab: HTMLElement;
  todo: Group<LoadSection>[];
  links: Link[];
}

/** Calls `changed` whenever another load is selected. */
export function loads(report: Report, groups: Group<LoadSection>[], changed: () => void): Loads {
  const panels = report.loads.map((load, index) => panel(report, load, index, groups));
  let shown = panels[0];
  const show = (next: Panel): void => {
    shown = next;
    for (const each of panels) {
      const isShown = each === next;
      each.element.classList.toggle('hidden', !isShown);
      each.tab.setAttribute('aria-selected', String(isShown));
      each.tab.tabIndex = isShown ? 0 : -1;
    }
    while (fill(report, next, panels.indexOf(next))) {
      // The selected load must be complete.
    }
    changed();
  };
  const element = h(
    'div',
    { class: 'loads' },
    overview(report),
    panels.length > 1 ? tabs(panels, show) : null,
    ...panels.map((each) => each.element),
  );
  const hidden = panels.slice(1);
  for (const each of hidden) each.element.classList.add('hidden');
  const followHash = (): void => {
    const target = location.hash === '' ? null : document.getElementById(location.hash.slice(1));
    const around = target && panels.find((each) => each.element.contains(target));
    if (around && around !== shown) show(around);
    target?.scrollIntoView();
  };
  window.addEventListener('hashchange', followHash);
  return {
    element,
    step: () => {
      const index = panels.findIndex(({ todo }) => todo.length > 0);
      const next = panels[index];
      if (next) fill(report, next, index);
      return next !== undefined;
    },
    links: () => shown?.links ?? [],
    followHash,
  };
}

function panel(report: Report, load: Load, index: number, groups: Group<LoadSection>[]): Panel {
  const id = `load-${index + 1}`;
  const isOne = report.loads.length === 1;
  const tab = h(
    'button',
    { type: 'button', role: 'tab', id: `${id}-tab`, 'aria-controls': id },
    load.name || `load ${index + 1}`,
  );
  const words =
    load.words === ''
      ? null
      : h('p', { class: 'load-words' }, isOne ? null : h('strong', {}, load.name), load.words);
  const element = h(
    'div',
    isOne ? { class: 'load', id } : { class: 'load', id, role: 'tabpanel', 'aria-labelledby': `${id}-tab` },
    words,
  );
  return { load, element, tab, todo: [...groups], links: [] };
}

/** Renders the next group of a panel; false if there is none. */
function fill(report: Report, { load, element, todo, links }: Panel, index: number): boolean {
  const next = todo.shift();
  if (!next) return false;
  const id = index === 0 ? next.id : `${next.id}-${index + 1}`;
  const made = group(
    id,
    next.title,
    next.sections.map((section) => guarded(() => section(report, load))),
  );
  append(element, made);
  if (made) links.push({ id, title: next.link });
  return true;
}

/** Selects one of several loads, with the mouse or arrow keys. */
function tabs(panels: Panel[], show: (panel: Panel) => void): HTMLElement {
  const list = h(
    'div',
    { class: 'tabs', role: 'tablist', 'aria-label': 'Load' },
    ...panels.map(({ tab }) => tab),
  );
  panels.forEach((panel, index) => {
    panel.tab.setAttribute('aria-selected', String(index === 0));
    panel.tab.tabIndex = index === 0 ? 0 : -1;
    const choose = (next: Panel | undefined): void => {
      if (!next) return;
      show(next);
      next.tab.focus({ preventScroll: true });
      history.replaceState(null, '', `#${next.element.id}`);
    };
    panel.tab.addEventListener('click', () => {
      choose(panel);
    });
    panel.tab.addEventListener('keydown', (event) => {
      const count = panels.length;
      const to: Record<string, number> = {
        ArrowRight: (index + 1) % count,
        ArrowLeft: (index + count - 1) % count,
        Home: 0,
        End: count - 1,
      };
      const next = to[event.key];
      if (next === undefined) return;
      event.preventDefault();
      choose(panels[next]);
    });
  });
  return h(
    'div',
    { class: 'tabs-bar' },
    h('span', { class: 'tabs-word', 'aria-hidden': 'true' }, 'Load'),
    list,
  );
}
