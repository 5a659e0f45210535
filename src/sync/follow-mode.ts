import type { GitRepo } from '#git/ask-git.ts';
import { isForgeError } from '#kernel/errors.ts';
import { takeLinesBack } from './added-lines.ts';
import { findSharedProjects, type SharedProject } from './find-shared-project.ts';
import type { AttemptLister } from './held-lines.ts';
import { uninstallHooks } from './hook-blocks.ts';
import { EXCLUDE_LINES, STEALTH_LINES } from './ignore-lines.ts';
import { makeProjectFiles } from './init/steps.ts';
import type { Machine } from './machine.ts';
import { replaceFile } from './place-file.ts';
import { parseProjectConfig, type ProjectConfig } from './project-config.ts';
import type { ProjectPaths } from './project-paths.ts';
import { hasLaterMode, readConfigFile, refreshSharedConfig } from './shared-config.ts';

/** The data branch that another clone has moved this project to, as far as this clone has fetched it. */
export async function findModeChange(
  repo: GitRepo,
  config: ProjectConfig,
  store?: AttemptLister,
): Promise<SharedProject | undefined> {
  const { data } = await findSharedProjects(repo, store);
  return data
    .filter((one) => hasLaterMode(config, one.config))
    .toSorted((a, b) => (a.config.mode_changed_at ?? '').localeCompare(b.config.mode_changed_at ?? ''))
    .at(-1);
}

/** This clone goes along: its copy of the config says so from now on, on every branch. */
export async function followModeChange(
  paths: ProjectPaths,
  machine: Machine,
  change: SharedProject,
): Promise<ProjectConfig> {
  replaceFile(paths.shared_config, change.text);
  await leaveBranches(paths, machine);
  return change.config;
}

/** Whether the config, which no attempt wrote (`confirmConfig`), says another mode than the last one that this clone was made ready for. One file read. */
export function isModeNew(paths: ProjectPaths, config: ProjectConfig): boolean {
  try {
    const text = readConfigFile(paths.shared_config)?.toString('utf8') ?? '';
    const known = parseProjectConfig(text, paths.shared_config);
    return known.initMode !== config.initMode || known.branchName !== config.branchName;
  } catch {
    return true;
  }
}

/** The config came with a pull and names another mode: the rest of this clone follows. Never throws for a store that cannot be written. */
export async function settleMode(
  paths: ProjectPaths,
  machine: Machine,
  { config, notice }: { readonly config: ProjectConfig; readonly notice: (line: string) => void },
): Promise<void> {
  try {
    if (config.initMode === 'branch') await leaveBranches(paths, machine);
    else takeLinesBack(paths, 'info/exclude', STEALTH_LINES);
    refreshSharedConfig(paths);
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return;
  }
  notice(
    config.initMode === 'branch'
      ? `Another clone moved the tasks of this project to the branch ${config.branchName}. Next: forge sync`
      : 'Another clone moved the tasks of this project into the branches you work on. Next: forge init',
  );
}

/** The hooks have nothing to do any more; the merge driver stays, for branches that still change the task files. */
async function leaveBranches(paths: ProjectPaths, { program, env }: Machine): Promise<void> {
  takeLinesBack(paths, 'info/exclude', EXCLUDE_LINES);
  makeProjectFiles(paths, 'branch', []);
  await uninstallHooks({ paths, program, env });
}
