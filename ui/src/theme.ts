/** Light or dark: as the reader's system has it, or as the reader chose; always light on paper. */

export type Choice = 'auto' | 'light' | 'dark';

const KEY = 'tenbin.theme';

let choice: Choice = 'auto';
let isPrinting = false;

const listeners = new Set<() => void>();

/**
 * Calls back whenever all must be drawn again: the colours have changed, or the page goes to paper or comes back.
 * What is made by others that are called back, such as on the way to paper, is called back in the same round.
 */
export function onTheme(changed: () => void): void {
  listeners.add(changed);
}

/** On paper there is all that waits on the screen until it is seen. */
export function isOnPaper(): boolean {
  return isPrinting;
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
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    apply();
  });
  const paper = matchMedia('print');
  const print = (now: boolean) => (): void => {
    if (isPrinting === now) return;
    isPrinting = now;
    // The style sheet gives the page the width of the paper, so that pictures are drawn for it.
    document.documentElement.classList.toggle('on-paper', now);
    apply(true);
  };
  window.addEventListener('beforeprint', print(true));
  window.addEventListener('afterprint', print(false));
  paper.addEventListener('change', () => {
    print(paper.matches)();
  });
  apply();
  print(paper.matches)();
}

function apply(isForced = false): void {
  const isDark = choice === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : choice === 'dark';
  const theme = isDark && !isPrinting ? 'dark' : 'light';
  const root = document.documentElement;
  if (root.dataset.theme === theme && !isForced) return;
  root.dataset.theme = theme;
  for (const changed of listeners) changed();
}
