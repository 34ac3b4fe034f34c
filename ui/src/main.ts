/** The entry point: reads the report from the document and renders its sections, the header first. */

import type { Report } from './report';
import { guarded } from './guarded';
import { append, h } from './dom';
import { whenNoneWaits } from './idle';
import { holdLoad } from './loading';
import { group } from './group';
import { SECTIONS, SECTIONS_OF_A_LOAD } from './sections';
import { head } from './sections/head';
import { loads } from './sections/loads';
import { bar, type Link } from './sections/nav';
import { validity } from './sections/validity';
import { isPrinting, onRedraw, startTheme } from './theme';
import './style.css';

function start(): void {
  startTheme();
  const data = document.getElementById('report')?.textContent;
  if (!data) throw new Error('the page contains no report');
  const report = JSON.parse(data) as Report;
  const main = h('main', { id: 'main', tabindex: -1 }, head(report), validity(report));
  const top = bar();
  const skip = h('a', { class: 'skip', href: '#main' }, 'Skip to the result');
  append(document.body, skip, top.element, main);
  performance.mark('tenbin:head');
  const releaseLoad = holdLoad();
  afterPaint(() => {
    fill(report, main, top.setLinks, () => {
      whenNoneWaits(releaseLoad);
    });
  });
}

/** Renders the rest of the page in small tasks, so that it stays responsive; at once for printing. Calls `filled` at the end. */
function fill(
  report: Report,
  main: HTMLElement,
  setLinks: (links: Link[]) => void,
  filled: () => void,
): void {
  const after: Link[] = [];
  const before: Link[] = [{ id: 'answer', title: 'Result' }];
  const ofLoads = loads(report, SECTIONS_OF_A_LOAD, () => {
    setLinks([...before, ...ofLoads.links(), ...after]);
  });
  append(main, ofLoads.element);
  const rest = [...SECTIONS];
  const step = (): boolean => {
    if (ofLoads.step()) return true;
    const next = rest.shift();
    if (!next) return false;
    const sections = next.sections.map((section) => guarded(() => section(report)));
    const made = group(next.id, next.title, sections);
    append(main, made);
    if (made) after.push({ id: next.id, title: next.link });
    return true;
  };
  const end = once(() => {
    append(main, footer(report));
    setLinks([...before, ...ofLoads.links(), ...after]);
    ofLoads.followHash();
    performance.mark('tenbin:ready');
    document.documentElement.dataset.ready = 'true';
    filled();
  });
  const go = (): void => {
    let isMore = step();
    // A print job does not wait for timers.
    while (isMore && isPrinting()) isMore = step();
    if (isMore) setTimeout(go);
    else end();
  };
  onRedraw(() => {
    if (isPrinting()) go();
  });
  go();
}

function footer({ id, tenbin_version: version }: Report): HTMLElement {
  return h('footer', {}, h('span', { lang: 'ja' }, '天秤'), ` Tenbin ${version} · ${id}`);
}

/** Runs after the first paint. Hidden windows never paint and print jobs do not wait, so a timer runs it, too. */
function afterPaint(then: () => void): void {
  const now = once(then);
  requestAnimationFrame(() => setTimeout(now));
  setTimeout(now, 200);
  onRedraw(() => {
    if (isPrinting()) now();
  });
}

function once(then: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    then();
  };
}

start();
