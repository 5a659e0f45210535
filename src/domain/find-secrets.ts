/** What stands in place of a secret. */
export const MASK = '[redacted]';

/**
 * Forms that those who issue keys gave them so that they can be found. Nothing that merely looks random: a warning
 * that is mostly wrong is not read. Each matches the whole of a key, and every repetition is bounded or is of characters
 * that end it, so that a long text takes as long as its length says.
 */
const FORMS: readonly (readonly [string, RegExp])[] = [
  [
    'a private key',
    /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----(?:[A-Za-z0-9+/=:,\s\\]|-(?!-))*(?:-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----)?/g,
  ],
  ['an AWS key', /\bA(?:KIA|SIA)[0-9A-Z]{16}\b/g],
  ['a GitHub token', /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})/g],
  ['a GitLab token', /\bglpat-[A-Za-z0-9_-]{20,}/g],
  ['a Slack token', /\bxox[abprs]-[A-Za-z0-9-]{10,}/g],
  // A name of words with dashes is none: keys of providers have figures in them.
  ['a key of a model provider', /\bsk-(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{32,}/g],
  ['a Google key', /\bAIza[A-Za-z0-9_-]{35,}/g],
  ['an npm token', /\bnpm_[A-Za-z0-9]{36}\b/g],
];

/** One of these stands in every text that one of the forms matches: nearly all texts are told by this one look. */
const ANY = /PRIVATE KEY-----|A[KS]IA|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk-|AIza|npm_/;

export interface FoundSecret {
  /** What it looks like, with its article. */
  readonly name: string;
  readonly value: string;
}

/** What the text seems to hold that should be nowhere, one after the other by their kind. */
export function listSecrets(text: string): FoundSecret[] {
  if (!ANY.test(text)) return [];
  return FORMS.flatMap(([name, form]) => [...text.matchAll(form)].map(([value]) => ({ name, value })));
}

/** Which kinds of them it holds; empty for nearly all texts. */
export function findSecrets(text: string): string[] {
  return [...new Set(listSecrets(text).map(({ name }) => name))];
}

/** The text without them. */
export function maskSecrets(text: string): string {
  if (!ANY.test(text)) return text;
  return FORMS.reduce((masked, [, form]) => masked.replaceAll(form, MASK), text);
}

const KEY_BEGINS = /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----/;
const KEY_ENDS = '-----END ';
/** Base64, and the headers of an encrypted key; blanks and a bar where a program indents what it shows. */
const KEY_LINE = /^[\sA-Za-z0-9+/=:,|-]*$/;

/** The same for the lines of one stream: a private key goes over many of them. */
export function createLineMask(): (line: string) => string {
  let isInKey = false;
  return (line) => {
    if (isInKey) {
      const ends = line.includes(KEY_ENDS);
      isInKey = !ends && KEY_LINE.test(line);
      if (ends || isInKey) return MASK;
    }
    const begun = ANY.test(line) ? KEY_BEGINS.exec(line) : null;
    isInKey = begun !== null && !line.includes(KEY_ENDS, begun.index);
    return maskSecrets(line);
  };
}
