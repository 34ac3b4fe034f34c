/** Estimates the width of texts in charts, to reserve space and to cut long texts. */

/** In pixels; rather too wide than too narrow. */
export function textWidth(text: string, size: number): number {
  let ems = 0;
  for (const letter of text) ems += emsOf(letter);
  return ems * size;
}

/** Cuts a text that does not fit, and appends `…`. */
export function cut(text: string, width: number, size: number): string {
  if (textWidth(text, size) <= width) return text;
  let ems = emsOf('…');
  let kept = '';
  for (const letter of text) {
    ems += emsOf(letter);
    if (ems * size > width) break;
    kept += letter;
  }
  return `${kept.trimEnd()}…`;
}

function emsOf(letter: string): number {
  if ((letter.codePointAt(0) ?? 0) >= 0x2e80) return 1;
  if (" .,:;|!ijl'()[]".includes(letter)) return 0.33;
  if ('mwMW@%★÷×…—'.includes(letter)) return 0.92;
  return letter >= 'A' && letter <= 'Z' ? 0.7 : 0.61;
}
