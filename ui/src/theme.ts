/** Light or dark: as the reader's system has it, or as the reader chose; always light on paper. */

export type Choice = 'auto' | 'light' | 'dark';

const EVENT = 'tenbin:theme';
const KEY = 'tenbin.theme';

let choice: Choice = 'auto';
let isPrinting = false;

/** Calls back whenever the colours have changed, so that canvases can be drawn again. */
export function onTheme(changed: () => void): void {
  document.addEventListener(EVENT, changed);
}

export function chosen(): Choice {
  return choice;
}

export function choose(next: Choice): void {
  choice = next;
  // A page that was opened as a file may have no storage.
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // The choice then lasts as long as the page.
  }
  apply();
}

/** Sets the colours before anything is painted, and keeps them right. */
export function startTheme(): void {
  try {
    const stored = localStorage.getItem(KEY);
    if (stored === 'light' || stored === 'dark') choice = stored;
  } catch {
    // No storage: as the system has it.
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
  const paper = matchMedia('print');
  const print = (now: boolean) => (): void => {
    isPrinting = now;
    apply();
  };
  window.addEventListener('beforeprint', print(true));
  window.addEventListener('afterprint', print(false));
  paper.addEventListener('change', () => {
    print(paper.matches)();
  });
  isPrinting = paper.matches;
  apply();
}

function apply(): void {
  const isDark = choice === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : choice === 'dark';
  const theme = isDark && !isPrinting ? 'dark' : 'light';
  const root = document.documentElement;
  if (root.dataset.theme === theme) return;
  root.dataset.theme = theme;
  document.dispatchEvent(new Event(EVENT));
}
