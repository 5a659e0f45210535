import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * A log that grows too long keeps its beginning in the file itself and its end in parts beside it, `run.jsonl.4096`,
 * named after the byte of the whole log at which they begin. What lies between two parts was dropped. So an offset
 * means the same for as long as the log exists.
 */
export interface LogPart {
  readonly path: string;
  readonly start: number;
  readonly size: number;
}

/** From the beginning to the end; empty where there is no log. */
export function listLogParts(path: string): readonly LogPart[] {
  const starts = listNames(dirname(path)).flatMap((name) => parseStart(name, basename(path)) ?? []);
  return starts
    .sort((a, b) => a - b)
    .flatMap((start) => {
      const part = toPartPath(path, start);
      const size = findSize(part);
      return size === undefined ? [] : [{ path: part, start, size }];
    });
}

export function toPartPath(path: string, start: number): string {
  return start === 0 ? path : join(dirname(path), `${basename(path)}.${start}`);
}

function parseStart(name: string, base: string): number | undefined {
  if (name === base) return 0;
  if (!name.startsWith(`${base}.`)) return undefined;
  const rest = name.slice(base.length + 1);
  return /^[1-9]\d{0,15}$/.test(rest) ? Number(rest) : undefined;
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function findSize(path: string): number | undefined {
  try {
    return statSync(path).size;
  } catch (error) {
    // The oldest part may be dropped while the list is made.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
