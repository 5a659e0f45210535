/**
 * The text that a search compares: lower case; a Greek sigma is written another way at the end of a word, which must not
 * matter. A text of ASCII alone is looked for without it: then only the letters A to Z have two cases, so that the same
 * tasks are found by databases that know no others.
 */
export function foldText(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}

export function isAscii(text: string): boolean {
  return /^[\u0000-\u007f]*$/.test(text);
}

/** Whether a text holds another one, whatever their case. */
export function holdsText(text: string, wanted: string): boolean {
  if (!isAscii(wanted)) return foldText(text).includes(foldText(wanted));
  return lowerAscii(text).includes(lowerAscii(wanted));
}

/** The letters A to Z alone. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
