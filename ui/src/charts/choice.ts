/** A labeled select. */

import { h } from '../dom';

/** Calls `choose` with the key of the selected option. */
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
