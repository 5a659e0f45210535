import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { LIMITS } from '#kernel/limits.ts';
import { isOutside } from './decide-permission.ts';
import { resolveReal } from './is-inside.ts';
import type { FileResult, FileWork } from './protocols/session.ts';

/** Reads or writes a file for an agent that asks its client for that: in the checkout, and nowhere else. */
export function workOnFile(cwd: string, work: FileWork): FileResult {
  const path = isAbsolute(work.path) ? work.path : resolve(cwd, work.path);
  if (isOutside(path, cwd)) return { done: false, reason: `${work.path} is not in the checkout` };
  try {
    return { done: true, text: work.kind === 'read' ? readLines(path, work) : writeText(path, work.text) };
  } catch (error) {
    return { done: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

function readLines(
  path: string,
  { line = 1, limit }: { line?: number | undefined; limit?: number | undefined },
) {
  const { size } = statSync(path);
  if (size > LIMITS.agent_file_bytes)
    throw new Error(`${path} has ${size} bytes: too many to be read at once`);
  const text = readFileSync(path, 'utf8');
  if (line <= 1 && limit === undefined) return text;
  const lines = text.split('\n');
  const from = Math.max(0, line - 1);
  return lines.slice(from, limit === undefined ? undefined : from + limit).join('\n');
}

function writeText(path: string, text: string): string {
  const real = resolveReal(path);
  mkdirSync(dirname(real), { recursive: true });
  writeFileSync(real, text);
  return '';
}
