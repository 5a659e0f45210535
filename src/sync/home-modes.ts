import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { listWrongModes } from './kept-modes.ts';
import type { ProjectPaths } from './project-paths.ts';

/** Files of the home by which another person of the machine could act as this one. */
const SECRETS = ['server-token', 'tokens.jsonl'];

export interface WideMode {
  /** A sentence without its end. */
  readonly what: string;
  /** The command that changes it. */
  readonly hint: string;
}

/**
 * What others on this machine can reach though they should not, with the command that changes it. Nothing is changed here: a token that others could read has to be made anew, not only hidden.
 */
export function describeWideModes(
  home: string,
  projects: readonly Pick<ProjectPaths, 'store_dir' | 'common_dir'>[],
): WideMode[] {
  // There modes say nothing.
  if (process.platform === 'win32') return [];
  const found: WideMode[] = [];
  if ((modeOf(home) & 0o022) !== 0)
    found.push({ what: `others on this machine can change files in ${home}`, hint: `chmod go-w ${home}` });
  for (const name of SECRETS) {
    const path = join(home, name);
    if ((modeOf(path) & 0o077) !== 0)
      found.push({
        what: `others on this machine can read ${path}`,
        hint: `chmod 600 ${path}, then make its tokens anew: forge token rotate <id>`,
      });
  }
  for (const paths of projects) {
    const open = listWrongModes(paths).filter(({ why }) => why === 'open');
    if (open.length > 0)
      found.push({
        what: `others on this machine can read tasks in ${paths.store_dir}`,
        hint: 'forge doctor --fix',
      });
  }
  return found;
}

function modeOf(path: string): number {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined || found.isSymbolicLink() ? 0 : found.mode;
}
