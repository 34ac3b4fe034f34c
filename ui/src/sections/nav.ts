/** The bar at the top: the navigation and the theme button. */

import { h } from '../dom';
import { choose, chosen, type Choice } from '../theme';
import { announce } from '../copy';

export interface Link {
  id: string;
  title: string;
}

export interface Bar {
  element: HTMLElement;
  /** Replaces the links of the navigation. */
  setLinks: (links: Link[]) => void;
}

export function bar(): Bar {
  const list = h('ul', {});
  const nav = h('nav', { 'aria-label': 'Sections' }, list);
  const name = h(
    'a',
    { class: 'mark', href: '#answer' },
    h('span', { lang: 'ja', 'aria-hidden': 'true' }, '天秤'),
    ' Tenbin',
  );
  const element = h('div', { class: 'bar' }, h('div', { class: 'bar-in' }, name, nav, themeButton()));
  let watcher: IntersectionObserver | undefined;
  const setLinks = (links: Link[]): void => {
    watcher?.disconnect();
    const made = links.map(({ id, title }) => ({ id, link: h('a', { href: `#${id}` }, title) }));
    list.replaceChildren(...made.map(({ link }) => h('li', {}, link)));
    watcher = follow(made, nav);
  };
  return { element, setLinks };
}

/** Highlights the link of the current section. */
function follow(links: { id: string; link: HTMLElement }[], nav: HTMLElement): IntersectionObserver {
  const seen = new Set<string>();
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) seen.add(target.id);
        else seen.delete(target.id);
      }
      const now = links.find(({ id }) => seen.has(id));
      for (const { link } of links) link.removeAttribute('aria-current');
      if (!now) return;
      now.link.setAttribute('aria-current', 'true');
      // Scroll only the navigation, not the page.
      const { offsetLeft, offsetWidth } = now.link;
      if (offsetLeft < nav.scrollLeft || offsetLeft + offsetWidth > nav.scrollLeft + nav.clientWidth)
        nav.scrollLeft = offsetLeft - 16;
    },
    { rootMargin: '-132px 0px -55% 0px' },
  );
  for (const { id } of links) {
    const target = document.getElementById(id);
    if (target) watcher.observe(target);
  }
  return watcher;
}

const ORDER: Choice[] = ['auto', 'light', 'dark'];

function themeButton(): HTMLElement {
  const word = h('span', {});
  const button = h('button', { type: 'button', class: 'theme' }, word);
  const update = (): void => {
    word.textContent = chosen();
    button.setAttribute('aria-label', `Theme: ${chosen()}`);
    button.title = 'Theme: auto, light, or dark';
  };
  button.addEventListener('click', () => {
    choose(ORDER[(ORDER.indexOf(chosen()) + 1) % ORDER.length] ?? 'auto');
    update();
    announce(`Theme: ${chosen()}`);
  });
  update();
  return button;
}
