/** The page: reads the report out of the document and puts its sections below each other. */

import type { Report } from './report';
import { append, h } from './dom';
import { group } from './group';
import { SECTIONS, SECTIONS_OF_A_LOAD } from './sections';
import { loads } from './sections/loads';
import { startTheme } from './theme';
import './style.css';

function start(): void {
  startTheme();
  const data = document.getElementById('report')?.textContent;
  if (!data) throw new Error('the page has no report in it');
  const report = JSON.parse(data) as Report;
  const main = h('main', { id: 'main' });
  append(main, loads(report, SECTIONS_OF_A_LOAD));
  for (const { id, title, sections } of SECTIONS) {
    append(
      main,
      group(
        id,
        title,
        sections.map((section) => section(report)),
      ),
    );
  }
  append(document.body, main);
}

start();
