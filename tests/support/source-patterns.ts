import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { findPatterns, type FoundPattern } from './find-patterns.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Every regular expression of the program, each once. */
export function listSourcePatterns(): FoundPattern[] {
  const found = new Map<string, FoundPattern>();
  for (const file of globSync('src/**/*.ts', { cwd: ROOT }).toSorted()) {
    const path = file.split(sep).join('/');
    if (/\.(?:test|generated)\.ts$/.test(path)) continue;
    for (const one of findPatterns(path, readFileSync(join(ROOT, path), 'utf8')))
      found.set(`${one.flags}/${one.source}`, one);
  }
  return [...found.values()];
}
