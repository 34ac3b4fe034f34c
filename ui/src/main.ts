/** The page: reads the report out of the document and puts its sections below each other, the head first. */

import type { Report } from './report';
import { sound } from './broken';
import { append, h } from './dom';
import { group } from './group';
import { SECTIONS, SECTIONS_OF_A_LOAD } from './sections';
import { head } from './sections/head';
import { loads } from './sections/loads';
import { bar, type Link } from './sections/nav';
import { validity } from './sections/validity';
import { isOnPaper, onTheme, startTheme } from './theme';
import './style.css';

function start(): void {
  startTheme();
  const data = document.getElementById('report')?.textContent;
  if (!data) throw new Error('the page has no report in it');
  const report = JSON.parse(data) as Report;
  const main = h('main', { id: 'main', tabindex: -1 }, head(report), validity(report));
  const top = bar();
  const skip = h('a', { class: 'skip', href: '#main' }, 'To the answer');
  append(document.body, skip, top.element, main);
  performance.mark('tenbin:head');
  afterPaint(() => {
    fill(report, main, top.lead);
  });
}

/** The rest of the page, a piece at a time, so that what is there answers to the reader at once; all of it on paper. */
function fill(report: Report, main: HTMLElement, lead: (links: Link[]) => void): void {
  const after: Link[] = [];
  const before: Link[] = [{ id: 'answer', title: 'Answer' }];
  const ofLoads = loads(report, SECTIONS_OF_A_LOAD, () => {
    lead([...before, ...ofLoads.links(), ...after]);
  });
  append(main, ofLoads.element);
  const rest = [...SECTIONS];
  const step = (): boolean => {
    if (ofLoads.step()) return true;
    const next = rest.shift();
    if (!next) return false;
    const sections = next.sections.map((section) => sound(() => section(report)));
    const made = group(next.id, next.title, sections);
    append(main, made);
    if (made) after.push({ id: next.id, title: next.link });
    return true;
  };
  const end = once(() => {
    append(main, foot(report));
    lead([...before, ...ofLoads.links(), ...after]);
    ofLoads.seek();
    performance.mark('tenbin:ready');
    document.documentElement.dataset.ready = 'true';
  });
  const go = (): void => {
    let isMore = step();
    // Paper does not wait.
    while (isMore && isOnPaper()) isMore = step();
    if (isMore) setTimeout(go);
    else end();
  };
  onTheme(() => {
    if (isOnPaper()) go();
  });
  go();
}

function foot({ id, tenbin_version: version }: Report): HTMLElement {
  return h('footer', {}, h('span', { lang: 'ja' }, '天秤'), ` Tenbin ${version} · ${id}`);
}

/** A frame alone comes before painting. Nothing is painted in a window that is not seen, nor is paper waited for. */
function afterPaint(then: () => void): void {
  const now = once(then);
  requestAnimationFrame(() => setTimeout(now));
  setTimeout(now, 200);
  onTheme(() => {
    if (isOnPaper()) now();
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
