import { readdirSync, rmSync } from 'node:fs';
import type { Checkout } from './checkout-record.ts';
import { toDiskPath } from './disk-path.ts';
import { toShownPath } from './shown-path.ts';

/** Files whose rules git reads in every folder that it looks through. */
const RULES = /^\.git(?:attributes|ignore)$/i;

/**
 * Removes pipes and the like that stand in the place of `.gitattributes` and `.gitignore`, in any folder: git opens them
 * and would wait without end. They hold nothing that could be lost. Gives their names.
 */
export function dropPipes({ path: top }: Pick<Checkout, 'path'>): readonly string[] {
  const dropped: string[] = [];
  const waiting = [''];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const entry of readFolder(toDiskPath(top, at))) {
      const path = at + entry.name;
      if (entry.isDirectory()) {
        if (entry.name !== '.git') waiting.push(`${path}/`);
      } else if (RULES.test(entry.name) && !entry.isFile() && !entry.isSymbolicLink()) {
        rmSync(toDiskPath(top, path), { force: true });
        dropped.push(toShownPath(path));
      }
    }
  }
  return dropped;
}

/** One that cannot be read is none that git could read. */
function readFolder(place: Buffer) {
  try {
    return readdirSync(place, { withFileTypes: true, encoding: 'latin1' });
  } catch {
    return [];
  }
}
