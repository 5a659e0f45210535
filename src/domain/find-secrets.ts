import { createBreakMask } from './broken-keys.ts';
import { lookIntoRuns } from './encoded-runs.ts';
import { listPlainViews, type PlainView } from './plain-view.ts';
import { createKeyTracker, mayBeginKey } from './private-key-lines.ts';
import { createRunReader, type RunReader } from './read-runs.ts';
import { MASK, maskSpans } from './secret-mask.ts';
import { ANY_SECRET, listForms, SECRET_PATTERNS } from './secret-patterns.ts';

export interface FoundSecret {
  /** What it looks like, with its article. */
  readonly name: string;
  readonly value: string;
}

/**
 * What the text seems to hold that should be nowhere, hidden in the ways that maskSecrets knows or not; what goes over
 * lines is told by its lines alone. What has two forms (the value of a header) is told by the first.
 */
export function listSecrets(text: string): FoundSecret[] {
  const apart: Span[] = [];
  for (const span of locateAll(text, listPlainViews(text)).toSorted((a, b) => a.from - b.from)) {
    const last = apart.at(-1);
    if (last === undefined || last.to <= span.from) apart.push(span);
    else if (span.rank < last.rank) apart[apart.length - 1] = span;
  }
  return apart.map(({ name, from, to }) => ({ name, value: text.slice(from, to) }));
}

interface Span {
  readonly name: string;
  /** The place of its form among all. */
  readonly rank: number;
  readonly from: number;
  readonly to: number;
}

function locateForms(text: string): Span[] {
  if (!ANY_SECRET.test(text)) return [];
  return SECRET_PATTERNS.flatMap((pattern, rank) =>
    listForms(text, pattern).map(({ value, from }) => ({
      name: pattern.name,
      rank,
      from,
      to: from + value.length,
    })),
  );
}

/** Which kinds of them it holds; empty for nearly all texts. */
export function findSecrets(text: string): string[] {
  return [...new Set(listSecrets(text).map(({ name }) => name))];
}

/** Whether a text holds something that is secret although it does not look so. */
export type IsSecret = (text: string) => boolean;

/**
 * The text without them, also where one is in base64, hex or escapes, or has codes of a terminal or invisible characters
 * in it, or goes over lines; base64 and hex go as a whole, also where they say what `isSecret` knows.
 */
export function maskSecrets(text: string, isSecret?: IsSecret): string {
  const masked = maskWhole(text, isSecret);
  if (!masked.includes('\n') || !ANY_SECRET.test(masked)) return masked;
  const mask = createBreakMask();
  return masked
    .split('\n')
    .map((line) => mask(line, line))
    .join('\n');
}

function maskWhole(text: string, isSecret: IsSecret | undefined): string {
  const views = listPlainViews(text);
  return maskSpans(text, [...locateKeyLines(text, views), ...locateAll(text, views, isSecret)]);
}

/** As they are, and in every way to write them that is known. */
function locateAll(text: string, views: readonly PlainView[], isSecret?: IsSecret): Span[] {
  const encoded = toEncoded(isSecret, TIMES);
  const hidden = views.flatMap((view) =>
    [...locateForms(view.text), ...locateEncoded(view.text, encoded)].map((span) => ({
      ...span,
      ...view.toPlace(span),
    })),
  );
  const placed = [...hidden, ...locateEncoded(text, encoded)].map((span) => ({
    ...span,
    rank: span.rank + HIDDEN,
  }));
  return [...locateForms(text), ...placed];
}

/** What is hidden is told only where it is not there as it is. */
const HIDDEN = SECRET_PATTERNS.length;
/** What is encoded once may be encoded again; every further time is on purpose. */
const TIMES = 2;

interface Encoded {
  readonly isSecret: IsSecret | undefined;
  /** The same one for all runs: it has memory of its own. */
  readonly openReader: () => RunReader;
  /** For what is encoded in what is encoded. */
  readonly inner: Encoded | undefined;
}

function toEncoded(isSecret: IsSecret | undefined, times: number): Encoded {
  let reader: RunReader | undefined;
  return {
    isSecret,
    openReader: () => (reader ??= createRunReader()),
    inner: times > 1 ? toEncoded(isSecret, times - 1) : undefined,
  };
}

function locateEncoded(text: string, encoded: Encoded): Span[] {
  const found = lookIntoRuns(text, (said) => findSaid(said, encoded), encoded.openReader);
  return found.map(({ found: one, from, to }) => ({ ...one, from, to }));
}

/** The first one in what a run says; its letters may be hidden too, or be of two bytes each. */
function findSaid(said: string, { isSecret, inner }: Encoded): Span | undefined {
  if (isSecret?.(said) === true) return { name: 'a secret', rank: 0, from: 0, to: said.length };
  for (const text of [said, ...listPlainViews(said).map((view) => view.text)]) {
    const found = locateForms(text)[0] ?? (inner === undefined ? undefined : locateEncoded(text, inner)[0]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The same for the lines of one stream: a private key goes over many of them. */
export function createLineMask(isSecret?: IsSecret): (line: string) => string {
  const trackKey = createKeyTracker();
  const maskBroken = createBreakMask();
  return (line) => {
    const views = listPlainViews(line);
    const ofKey = trackKey(line, () => views);
    if (ofKey.some(({ from, to }) => from === 0 && to === line.length)) return MASK;
    return maskBroken(maskSpans(line, [...ofKey, ...locateAll(line, views, isSecret)]), line);
  };
}

/** Where the lines of private keys are that have more on them. */
function locateKeyLines(text: string, views: readonly PlainView[]): { from: number; to: number }[] {
  if (![text, ...views.map((view) => view.text)].some(mayBeginKey)) return [];
  const trackKey = createKeyTracker();
  let begin = 0;
  return text.split('\n').flatMap((line) => {
    const spans = trackKey(line, () => listPlainViews(line)).map(({ from, to }) => ({
      from: begin + from,
      to: begin + to,
    }));
    begin += line.length + 1;
    return spans.filter(({ from, to }) => to > from);
  });
}
