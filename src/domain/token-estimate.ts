import { escapeLine, utf8Length } from '#kernel/text.ts';

/** Our own English and commands take fewer tokens than this says; a test holds it against real tokenizers. */
const OWN_BYTES_PER_TOKEN = 3;

/** Lines of a text for a model, apart by who wrote them. */
export interface CountedLine {
  readonly text: string;
  /** `others`: names, titles, ids, anything that is not a constant of Forge. */
  readonly from: 'forge' | 'others';
}

/**
 * At least as many tokens as the lines have, each with its newline. Without a vocabulary only one bound holds for
 * text that somebody chose to be expensive: a tokenizer over bytes makes no more tokens than there are bytes.
 */
export function estimateTokens(lines: readonly CountedLine[]): number {
  const bytesFrom = (from: CountedLine['from']): number =>
    lines.reduce((sum, line) => (line.from === from ? sum + utf8Length(line.text) + 1 : sum), 0);
  return Math.ceil(bytesFrom('forge') / OWN_BYTES_PER_TOKEN) + bytesFrom('others');
}

const ELLIPSIS = '…';
const JOINER = '\u200d';

/** The beginning of a text that, once escaped for a line, takes at most so many bytes; marked where it was cut. */
export function cutToBytes(text: string, bytes: number): string {
  const room = bytes - utf8Length(ELLIPSIS);
  let used = 0;
  let kept = '';
  let fitting = '';
  for (const character of text) {
    used += utf8Length(escapeLine(character));
    if (used > bytes) return `${fitting.endsWith(JOINER) ? fitting.slice(0, -1) : fitting}${ELLIPSIS}`;
    kept += character;
    if (used <= room) fitting = kept;
  }
  return text;
}
