import { escapeLine } from '#kernel/text.ts';

/**
 * The faults that an error names besides its message, a line each: `12:7  states[3].next[1]: no state is called "x"`.
 * What is in the details of an error may come from a server, so nothing of it is relied on.
 */
export function faultLines(faults: readonly unknown[]): string {
  return faults.map((fault) => `  ${escapeLine(toLine(fault))}\n`).join('');
}

function toLine(fault: unknown): string {
  if (typeof fault !== 'object' || fault === null) return String(fault);
  const { path, message, hint, line, column } = fault as Readonly<Record<string, unknown>>;
  const place = typeof line === 'number' && typeof column === 'number' ? `${line}:${column}  ` : '';
  const where = typeof path === 'string' && path !== '' ? `${path}: ` : '';
  const advice = typeof hint === 'string' ? ` (${hint})` : '';
  return `${place}${where}${typeof message === 'string' ? message : ''}${advice}`;
}
