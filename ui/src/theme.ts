/** Light or dark theme: the reader's choice, or that of the operating system; always light in print. */

export type Choice = 'auto' | 'light' | 'dark';

const KEY = 'tenbin.theme';

let choice: Choice = 'auto';
let printing = false;

const listeners = new Set<() => void>();

/**
 * Calls back whenever everything must be redrawn: the colors changed, or printing starts or ends.
 * Listeners that are added by other listeners are called in the same round.
 */
export function onRedraw(changed: () => void): void {
  listeners.add(changed);
}

/** Whether the page is being printed, which must not wait for lazy rendering. */
export function isPrinting(): boolean {
  return printing;
}

export function chosen(): Choice {
  return choice;
}

export function choose(next: Choice): void {
  choice = next;
  // A page opened as a file may have no storage.
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // The choice lasts until the page is closed.
  }
  apply();
}

/** Sets the theme before the first paint, and follows its changes. */
export function startTheme(): void {
  try {
    const stored = localStorage.getItem(KEY);
    if (stored === 'light' || stored === 'dark') choice = stored;
  } catch {
    // No storage: follow the operating system.
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    apply();
  });
  const media = matchMedia('print');
  const print = (now: boolean) => (): void => {
    if (printing === now) return;
    printing = now;
    // The style sheet sets the width of a printed page, so that charts are drawn for it.
    document.documentElement.classList.toggle('printing', now);
    apply(true);
  };
  window.addEventListener('beforeprint', print(true));
  window.addEventListener('afterprint', print(false));
  media.addEventListener('change', () => {
    print(media.matches)();
  });
  apply();
  print(media.matches)();
}

function apply(isForced = false): void {
  const isDark = choice === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : choice === 'dark';
  const theme = isDark && !printing ? 'dark' : 'light';
  const root = document.documentElement;
  if (root.dataset.theme === theme && !isForced) return;
  root.dataset.theme = theme;
  for (const changed of listeners) changed();
}

/** Print shows what the details hide. */
export function openInPrint(details: HTMLDetailsElement): void {
  let wasOpen: boolean | undefined;
  onRedraw(() => {
    if (isPrinting()) {
      wasOpen ??= details.open;
      details.open = true;
    } else if (wasOpen !== undefined) {
      details.open = wasOpen;
      wasOpen = undefined;
    }
  });
}
