import type { FoundPattern } from './find-patterns.ts';
import { type Growing, growTo, listWorstTexts } from './worst-texts.ts';

/** Patterns that never see a long text, and why. */
const BOUNDED: Readonly<Record<string, string>> = {
  'src/domain/plain-line.ts':
    'a line that is longer than LIMITS.shell_line_length is not parsed, and is not asked for',
  'src/sync/mcp-clients/scan-toml.ts': 'the settings of a program of the user, in the home of the user',
};

export function isBounded({ path }: FoundPattern): boolean {
  return path in BOUNDED;
}

/**
 * The first of the worst texts, grown to `length`, for which V8 has no stack. It notes every step of most repetitions, and
 * throws where there are too many notes.
 */
export function findOverflow(
  { source, flags }: FoundPattern,
  { length, texts }: { readonly length: number; readonly texts: number },
): Growing | undefined {
  const pattern = new RegExp(source, flags);
  const apart = new Map(
    listWorstTexts(source, flags).map((text) => [JSON.stringify([text.before, text.repeated]), text]),
  );
  return [...apart.values()].slice(0, texts).find((text) => throwsAt(pattern, growTo(text, length)));
}

function throwsAt(pattern: RegExp, text: string): boolean {
  pattern.lastIndex = 0;
  try {
    pattern.test(text);
    return false;
  } catch (error) {
    if (error instanceof RangeError) return true;
    throw error;
  }
}
