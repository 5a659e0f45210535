import type { TranscriptEntry } from '#contract/transcript.ts';
import { utf8Length } from '#kernel/text.ts';

const MAX_DEPTH = 32;

/**
 * An entry as it may be written: without secrets, and no longer than a line may be. Every string of it is looked at,
 * keys too, because an agent puts what it has read wherever it likes.
 */
export function cleanEntry(
  entry: TranscriptEntry,
  rules: { readonly redact: (text: string) => string; readonly line_bytes: number },
): TranscriptEntry {
  const redacted = mapStrings(entry, rules.redact);
  const size = utf8Length(JSON.stringify(redacted));
  if (size <= rules.line_bytes) return redacted;
  // A character of text takes up to six bytes as JSON, so this bound holds whatever the characters are.
  const budget = Math.max(0, Math.floor(rules.line_bytes / 8));
  const cut = mapStrings(redacted, (text) => cutText(text, budget));
  if (utf8Length(JSON.stringify(cut)) <= rules.line_bytes) return cut;
  return { kind: 'note', text: `An entry of ${size} bytes (${entry.kind}) is left out: it is too long` };
}

function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length)} (${text.length - length} more characters)`;
}

/** The kind is of our own making and stays. */
function mapStrings(entry: TranscriptEntry, map: (text: string) => string): TranscriptEntry {
  const { kind, ...fields } = entry;
  // Strings stay strings and nothing else is changed, so it is an entry of the same kind.
  return { kind, ...(mapValue(fields, map, 0) as object) } as TranscriptEntry;
}

function mapValue(value: unknown, map: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return map(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return '(nested too deep)';
  if (Array.isArray(value)) return value.map((one) => mapValue(one, map, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [map(key), mapValue(one, map, depth + 1)]),
  );
}
