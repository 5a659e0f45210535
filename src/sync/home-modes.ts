import { statSync } from 'node:fs';
import { join } from 'node:path';
import { HOME_FILES, HOME_FOLDERS, type HomeFileKind } from './home-files.ts';
import { listWrongModes } from './kept-modes.ts';
import type { ProjectPaths } from './project-paths.ts';

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
  for (const name of HOME_FOLDERS) {
    const path = join(home, name);
    if ((modeOf(path) & 0o022) !== 0)
      found.push({ what: `others on this machine can change files in ${path}`, hint: `chmod go-w ${path}` });
  }
  for (const [name, kind] of Object.entries(HOME_FILES)) {
    const path = join(home, name);
    const { bits, can, next } = WIDE[kind];
    if ((modeOf(path) & bits) !== 0)
      found.push({ what: `others on this machine can ${can} ${path}`, hint: `chmod 600 ${path}${next}` });
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

const WIDE: Readonly<Record<HomeFileKind, { bits: number; can: string; next: string }>> = {
  tokens: { bits: 0o077, can: 'read', next: ', then make its tokens anew: forge token rotate <id>' },
  secrets: { bits: 0o077, can: 'read', next: ', then replace the secrets in it: forge agent list' },
  authority: { bits: 0o022, can: 'change', next: ', and look whether it says what you wrote' },
};

/** Of what a link leads to: people keep such files elsewhere. */
function modeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
}
