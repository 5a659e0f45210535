import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { listWrongModes } from './kept-modes.ts';
import type { ProjectPaths } from './project-paths.ts';

/** Files of the home by which another person of the machine could act as this one. */
const SECRETS = ['server-token', 'tokens.jsonl'];

/**
 * What others on this machine can reach though they should not: a sentence for each place, with the command that
 * changes it. Nothing is changed here: a token that others could read has to be made anew, not only hidden.
 */
export function describeWideModes(
  home: string,
  projects: readonly Pick<ProjectPaths, 'store_dir' | 'common_dir'>[],
): string[] {
  // There modes say nothing.
  if (process.platform === 'win32') return [];
  const found: string[] = [];
  if ((modeOf(home) & 0o022) !== 0)
    found.push(`Others on this machine can change files in ${home}: chmod go-w ${home}`);
  for (const name of SECRETS) {
    const path = join(home, name);
    if ((modeOf(path) & 0o077) !== 0)
      found.push(
        `Others on this machine can read ${path}: chmod 600 ${path}, then make its tokens anew: forge token rotate <id>`,
      );
  }
  for (const paths of projects) {
    const open = listWrongModes(paths).filter(({ why }) => why === 'open');
    if (open.length > 0)
      found.push(`Others on this machine can read tasks in ${paths.store_dir}: forge doctor --fix`);
  }
  return found;
}

function modeOf(path: string): number {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined || found.isSymbolicLink() ? 0 : found.mode;
}
