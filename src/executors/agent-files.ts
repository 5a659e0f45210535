import { closeSync, fstatSync, readFileSync, writeFileSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { LIMITS } from '#kernel/limits.ts';
import { isOutside } from './decide-permission.ts';
import { resolveReal } from './is-inside.ts';
import { openBelow } from './open-below.ts';
import type { FileResult, FileWork } from './protocols/session.ts';

/**
 * Reads or writes a file for an agent that asks its client for that: in the checkout, and nowhere else. The agent works
 * in the checkout meanwhile, and this process is outside of its walls.
 */
export function workOnFile(cwd: string, work: FileWork): FileResult {
  const path = isAbsolute(work.path) ? work.path : resolve(cwd, work.path);
  if (isOutside(path, cwd)) return { done: false, reason: `${work.path} is not in the checkout` };
  const root = resolveReal(cwd);
  const parts = relative(root, resolveReal(path)).split(sep);
  try {
    const file = openBelow(root, parts, work.kind);
    try {
      return { done: true, text: work.kind === 'read' ? readLines(file, work) : writeText(file, work.text) };
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return { done: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

function readLines(
  file: number,
  { path, line = 1, limit }: { path: string; line?: number | undefined; limit?: number | undefined },
): string {
  const { size } = fstatSync(file);
  if (size > LIMITS.agent_file_bytes)
    throw new Error(`${path} has ${size} bytes: too many to be read at once`);
  const text = readFileSync(file, 'utf8');
  if (line <= 1 && limit === undefined) return text;
  const lines = text.split('\n');
  const from = Math.max(0, line - 1);
  return lines.slice(from, limit === undefined ? undefined : from + limit).join('\n');
}

function writeText(file: number, text: string): string {
  writeFileSync(file, text);
  return '';
}
