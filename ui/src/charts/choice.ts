/** A list to choose from, with its label. */

import { h } from '../dom';

/** `keys` and `words` of each choice; `choose` is told the key. */
export function choice(
  label: string,
  options: { key: string; words: string }[],
  chosen: string,
  choose: (key: string) => void,
): HTMLElement {
  const list = h(
    'select',
    {},
    ...options.map(({ key, words }) => h('option', { value: key, selected: key === chosen }, words)),
  );
  list.addEventListener('change', () => {
    choose(list.value);
  });
  return h('label', { class: 'choice' }, h('span', {}, label), list);
}
