import type { LogLine } from '#contract/transcript.ts';

/** Undefined for what Forge cannot have written. The fields of the entry are Forge's own and are taken as they are. */
export function parseLogLine(text: string): LogLine | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isLogLine(value) ? value : undefined;
}

function isLogLine(value: unknown): value is LogLine {
  if (typeof value !== 'object' || value === null) return false;
  const { v, seq, at, kind } = value as Record<string, unknown>;
  return v === 1 && Number.isSafeInteger(seq) && typeof at === 'string' && typeof kind === 'string';
}
