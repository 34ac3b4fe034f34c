/** Buttons that copy text to the clipboard and confirm it. */

import { h } from './dom';
import type { Numbers } from './numbers';
import { csv, markdown, tsv } from './views/sheet';

let announcer: HTMLElement | undefined;

/** Announces a text to screen readers. */
export function announce(text: string): void {
  announcer ??= document.body.appendChild(
    h('div', { class: 'unseen', role: 'status', 'aria-live': 'polite' }),
  );
  announcer.textContent = text;
}

/** `what` completes the label for screen readers, which do not convey where the button is. */
export function copyButton(label: string, what: string, make: () => string): HTMLElement {
  const name = h('span', {}, label);
  const button = h('button', { type: 'button', class: 'copy', 'aria-label': `${label}: ${what}` }, name);
  button.addEventListener('click', () => {
    void copy(make(), button).then((isCopied) => {
      name.textContent = isCopied ? 'Copied' : 'Press Ctrl+C';
      announce(isCopied ? `${what} copied` : `${what} selected: press Ctrl+C to copy`);
      setTimeout(() => {
        name.textContent = label;
      }, 1600);
    });
  });
  return button;
}

/** CSV, Markdown and tab-separated text of one table. */
export function copyButtons(what: string, make: () => Numbers): HTMLElement {
  return h(
    'div',
    { class: 'copies', role: 'group', 'aria-label': `Copy ${what}` },
    h('span', { class: 'copies-word', 'aria-hidden': 'true' }, 'Copy as'),
    copyButton('CSV', what, () => csv(make())),
    copyButton('Markdown', what, () => markdown(make())),
    copyButton('TSV', what, () => tsv(make())),
  );
}

/** Returns whether the text is on the clipboard. If not, it is shown selected next to the button. */
async function copy(text: string, button: HTMLElement): Promise<boolean> {
  // Pages opened as files, and old browsers, may have no clipboard, although the types promise one.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard) {
    try {
      await clipboard.writeText(text);
      return true;
    } catch {
      // Permission denied: fall back to execCommand.
    }
  }
  return copySelected(text, button);
}

function copySelected(text: string, button: HTMLElement): boolean {
  const area = h('textarea', { class: 'copy-area', readonly: true, 'aria-label': 'Text to copy', rows: 4 });
  area.value = text;
  button.after(area);
  area.select();
  // The only API for pages without a clipboard.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const isCopied = document.execCommand('copy');
  if (isCopied) {
    area.remove();
    button.focus();
  } else {
    area.addEventListener('blur', () => {
      area.remove();
    });
  }
  return isCopied;
}
