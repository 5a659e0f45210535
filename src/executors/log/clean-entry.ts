import type { TranscriptEntry } from '#contract/transcript.ts';
import { redactNamed } from '#domain/named-secrets.ts';
import { LIMITS } from '#kernel/limits.ts';
import { mapStrings } from '#kernel/map-strings.ts';
import { utf8Length } from '#kernel/text.ts';
import { countTexts } from './count-texts.ts';

/** Of a character as JSON, and of all of an entry but its text. */
const MOST_BYTES = 6;
const OTHER_BYTES = 100;

/**
 * An entry as it may be written: without secrets, and no longer than a line may be. Every string of it is looked at,
 * keys too and together with its key, because an agent puts what it has read wherever it likes.
 */
export function cleanEntry(
  entry: TranscriptEntry,
  rules: { readonly redact: (text: string) => string; readonly line_bytes: number },
): TranscriptEntry {
  const most = LIMITS.log_entry_texts;
  if (countTexts(entry, most) > most)
    return {
      kind: 'note',
      text: `An entry of more than ${most} texts (${entry.kind}) is left out: it is too long`,
    };
  const redact = openRedact(rules);
  if (entry.kind === 'output') {
    const text = openRedact(rules)(entry.text);
    // Nearly always: a program that writes much writes lines, and the long way costs many times what a line does.
    if (text.length * MOST_BYTES + OTHER_BYTES <= rules.line_bytes)
      return { kind: 'output', stream: entry.stream, text };
  }
  const redacted = mapEntry(entry, (fields) => redactNamed(fields, rules.redact, redact));
  const size = utf8Length(JSON.stringify(redacted));
  if (size <= rules.line_bytes) return redacted;
  // A character of text takes up to six bytes as JSON, so this bound holds whatever the characters are.
  const budget = Math.max(0, Math.floor(rules.line_bytes / 8));
  const cut = mapEntry(redacted, (fields) => mapStrings(fields, (text) => cutText(text, budget)));
  if (utf8Length(JSON.stringify(cut)) <= rules.line_bytes) return cut;
  return { kind: 'note', text: `An entry of ${size} bytes (${entry.kind}) is left out: it is too long` };
}

/** Of many texts no more than of one long text: a server serves no other client meanwhile. */
function openRedact(rules: { readonly redact: (text: string) => string; readonly line_bytes: number }) {
  let left = LIMITS.log_entry_length;
  return (text: string): string => {
    if (left <= 0 && text !== '') return '(left out)';
    left -= text.length;
    return redactStart(text, rules);
  };
}

/**
 * Of a text that is cut in any case only what is kept of it is looked at, and some more, so that a secret at the cut is
 * seen whole: a line of 8 MiB would hold up a server for as long as all of it takes.
 */
function redactStart(
  text: string,
  { redact, line_bytes }: { readonly redact: (text: string) => string; readonly line_bytes: number },
): string {
  if (text.length <= Math.min(line_bytes, LIMITS.log_entry_length)) return redact(text);
  const length = Math.floor(line_bytes / 8);
  // Half of a secret at the cut is not seen, and so stands unchanged at the end.
  const beyond = LIMITS.secret_beyond_length;
  const start = text.slice(0, length + beyond);
  const shown = redact(start);
  const whole = start.length === text.length ? shown.length : Math.max(0, shown.length - beyond);
  const kept = Math.min(length, whole);
  return `${shown.slice(0, kept)} (${text.length - kept} more characters)`;
}

function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length)} (${text.length - length} more characters)`;
}

/** The kind is of our own making and stays. */
function mapEntry(entry: TranscriptEntry, map: (fields: unknown) => unknown): TranscriptEntry {
  const { kind, ...fields } = entry;
  // Strings stay strings and nothing else is changed, so it is an entry of the same kind.
  return { kind, ...(map(fields) as object) } as TranscriptEntry;
}
