import { readFileSync } from 'node:fs';

/**
 * How many files and connections this process may have open; undefined where the system does not tell. Node raises its
 * limit to the highest that is allowed when it starts.
 */
export function readOpenFileLimit(read: () => string = readOwnLimits): number | undefined {
  let text: string;
  try {
    text = read();
  } catch {
    return undefined;
  }
  const soft = /^Max open files +(\d+|unlimited) /m.exec(text)?.[1];
  if (soft === 'unlimited') return Infinity;
  return soft === undefined ? undefined : Number(soft);
}

/** Only Linux has this file. */
function readOwnLimits(): string {
  return readFileSync('/proc/self/limits', 'utf8');
}
