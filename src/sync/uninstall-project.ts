import { chmodSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readBlob } from '#git/read-blob.ts';
import { copyTasks } from '#store/store-location.ts';
import { takeLinesBack } from './added-lines.ts';
import { removeAttributeLines, removeCloneAttributes } from './attribute-lines.ts';
import { toFileError } from './file-error.ts';
import { findForgeHome } from './forge-home.ts';
import { uninstallHooks } from './hook-blocks.ts';
import { EXCLUDE_LINES, removeIgnoreLines, STEALTH_LINES } from './ignore-lines.ts';
import { lookAt } from './look-at.ts';
import { toGitRepo, type Machine } from './machine.ts';
import { unregisterMergeDriver } from './merge-driver-config.ts';
import { applyOnboarding, planOnboarding } from './onboard-files.ts';
import type { ProjectConfig } from './project-config.ts';
import type { ProjectPaths } from './project-paths.ts';
import { TASKS_PATH } from './task-files.ts';

export interface Uninstalled {
  readonly removed: readonly string[];
  /** Where a copy of every task lies now. */
  readonly backup: string | null;
  readonly notes: readonly string[];
}

/**
 * Takes away what `forge init` and later commands made here: hook blocks, driver, lines in git's files, the database
 * and `.forge`. Every task goes to the Forge home first. Commits are the user's: files that are tracked show as deleted.
 */
export async function uninstallProject(
  { paths, config }: { paths: ProjectPaths; config: ProjectConfig },
  { machine, dry_run }: { machine: Machine; dry_run: boolean },
): Promise<Uninstalled> {
  const { program, env } = machine;
  const repo = toGitRepo(paths.root, machine);
  const tracked = (await readBlob(repo, 'HEAD', TASKS_PATH)) !== undefined;
  const notes = tracked
    ? ['The files of .forge are in the last commit; commit their removal when you are sure']
    : [];
  if (config.branchName !== undefined)
    notes.push(`Branch ${config.branchName} stays: git branch -D ${config.branchName}`);
  const places = [paths.forge_dir, paths.store_dir].filter((path) => lookAt(path) !== undefined);
  if (dry_run) return { removed: places, backup: null, notes };
  try {
    const backup = keepCopy(paths, config, machine);
    applyOnboarding(planOnboarding(paths.root, 'no block'));
    await uninstallHooks({ paths, program, env });
    await unregisterMergeDriver({ paths, env });
    removeAttributeLines(paths);
    removeCloneAttributes(paths);
    removeIgnoreLines(paths);
    takeLinesBack(paths, 'info/exclude', [...EXCLUDE_LINES, ...STEALTH_LINES]);
    removeIfEmpty(join(paths.common_dir, 'info'));
    removeProjectFolder(paths);
    rmSync(paths.store_dir, { recursive: true, force: true });
    return { removed: places, backup, notes };
  } catch (error) {
    throw toFileError(error, `Could not take Forge out of ${paths.root}`);
  }
}

/** A repository made without a template has no such folder. */
function removeIfEmpty(folder: string): void {
  if (lookAt(folder)?.isDirectory() === true && readdirSync(folder).length === 0) rmdirSync(folder);
}

/** A link in the place of the folder leads elsewhere; only the link goes. */
function removeProjectFolder(paths: ProjectPaths): void {
  if (lookAt(paths.forge_dir)?.isDirectory() === true)
    rmSync(paths.forge_dir, { recursive: true, force: true });
  else rmSync(paths.forge_dir, { force: true });
}

function keepCopy(paths: ProjectPaths, config: ProjectConfig, machine: Machine): string | null {
  const folder = join(findForgeHome(machine.env, machine.homeDir), 'removed');
  const stamp = new Date(machine.clock.now()).toISOString().replaceAll(/[:.]/g, '-');
  const copy = join(
    folder,
    `${config.idPrefix}-${toFileName(config.name || basename(paths.root))}-${stamp}.jsonl`,
  );
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!copyTasks(paths.store, copy)) return null;
  chmodSync(copy, 0o600);
  return copy;
}

function toFileName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 60);
}
