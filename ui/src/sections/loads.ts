/** The part of the page that is about one load, for each load. Several loads take turns; on paper all are there. */

import type { Load, Report } from '../report';
import type { Group, LoadSection } from '../sections';
import type { Link } from './nav';
import { sound } from '../broken';
import { append, h } from '../dom';
import { group } from '../group';

export interface Loads {
  element: HTMLElement;
  /** Makes what is not there yet, a piece a call; false if nothing is left to do. */
  step: () => boolean;
  /** Of the load that is shown. */
  links: () => Link[];
  /** Goes to what the address names, which may be in a load that is not shown. */
  seek: () => void;
}

interface Panel {
  load: Load;
  element: HTMLElement;
  tab: HTMLElement;
  todo: Group<LoadSection>[];
  links: Link[];
}

/** `changed` is called whenever another load is shown. */
export function loads(report: Report, groups: Group<LoadSection>[], changed: () => void): Loads {
  const panels = report.loads.map((load, place) => panel(report, load, place, groups));
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
      // All of it: it is looked at.
    }
    changed();
  };
  const element = h(
    'div',
    { class: 'loads' },
    panels.length > 1 ? tabs(panels, show) : null,
    ...panels.map((each) => each.element),
  );
  const hidden = panels.slice(1);
  for (const each of hidden) each.element.classList.add('hidden');
  const seek = (): void => {
    const target = location.hash === '' ? null : document.getElementById(location.hash.slice(1));
    const around = target && panels.find((each) => each.element.contains(target));
    if (around && around !== shown) show(around);
    target?.scrollIntoView();
  };
  window.addEventListener('hashchange', seek);
  return {
    element,
    step: () => {
      const place = panels.findIndex(({ todo }) => todo.length > 0);
      const next = panels[place];
      if (next) fill(report, next, place);
      return next !== undefined;
    },
    links: () => shown?.links ?? [],
    seek,
  };
}

function panel(report: Report, load: Load, place: number, groups: Group<LoadSection>[]): Panel {
  const id = `load-${place + 1}`;
  const isOne = report.loads.length === 1;
  const tab = h(
    'button',
    { type: 'button', role: 'tab', id: `${id}-tab`, 'aria-controls': id },
    load.name || `load ${place + 1}`,
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

/** Makes the next group of a panel; false if there is none. */
function fill(report: Report, { load, element, todo, links }: Panel, place: number): boolean {
  const next = todo.shift();
  if (!next) return false;
  const id = place === 0 ? next.id : `${next.id}-${place + 1}`;
  const made = group(
    id,
    next.title,
    next.sections.map((section) => sound(() => section(report, load))),
  );
  append(element, made);
  if (made) links.push({ id, title: next.link });
  return true;
}

/** One of several loads, by mouse and by arrow keys. */
function tabs(panels: Panel[], show: (panel: Panel) => void): HTMLElement {
  const list = h(
    'div',
    { class: 'tabs', role: 'tablist', 'aria-label': 'Load' },
    ...panels.map(({ tab }) => tab),
  );
  panels.forEach((panel, place) => {
    panel.tab.setAttribute('aria-selected', String(place === 0));
    panel.tab.tabIndex = place === 0 ? 0 : -1;
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
        ArrowRight: (place + 1) % count,
        ArrowLeft: (place + count - 1) % count,
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
    h('span', { class: 'tabs-word', 'aria-hidden': 'true' }, 'Under'),
    list,
  );
}
