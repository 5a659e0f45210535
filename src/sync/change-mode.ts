import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkNothingInProgress, commitFiles, type CommitRequest } from '#git/commit-files.ts';
import { findCurrentBranch } from '#git/branches.ts';
import { readBlob } from '#git/read-blob.ts';
import { parseIso, toIso } from '#kernel/clock.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { readJson } from '#kernel/read-json.ts';
import type { Writer } from '#store/store.ts';
import { takeLinesBack } from './added-lines.ts';
import { commitToBranch } from './branch-mode.ts';
import { exportFiles } from './export-files.ts';
import { toExportSource } from './export-source.ts';
import { findGatePaths } from './gate-files.ts';
import { uninstallHooks } from './hook-blocks.ts';
import { EXCLUDE_LINES, STEALTH_LINES } from './ignore-lines.ts';
import { connectGit } from './init/connect-git.ts';
import { adoptDataBranch } from './init/data-branch.ts';
import { makeProjectFiles } from './init/steps.ts';
import { toGitRepo, type Machine } from './machine.ts';
import { lookAt } from './look-at.ts';
import { replaceFile } from './place-file.ts';
import { isAttemptBranch, parseProjectConfig, type InitMode, type ProjectConfig } from './project-config.ts';
import { toProjectId } from './project-id.ts';
import type { ProjectPaths } from './project-paths.ts';
import { readSharedConfigBytes } from './shared-config.ts';
import type { HookProject } from './run-hook.ts';
import { CONFIG_PATH, TASKS_PATH, toTaskFiles } from './task-files.ts';

export interface ModeChange {
  readonly from: InitMode;
  readonly to: InitMode;
  readonly commit: string | null;
  readonly notes: readonly string[];
}

/**
 * Moves a project to the standard mode, or with `branch` to a branch of its own. What git has to know is committed
 * with an index of its own, so that the user's staged work stays as it is.
 */
export async function changeMode(
  project: HookProject,
  options: { by: Writer; machine: Machine; branch: string | undefined },
): Promise<ModeChange> {
  const { config } = project;
  await refuseAttempt(project, options.machine);
  const to = options.branch === undefined ? 'standard' : 'branch';
  if (config.initMode === to && (to === 'standard' || config.branchName === options.branch)) {
    throw new ForgeError('already_exists', `This project is in ${to} mode already`, {
      hint: to === 'standard' ? 'forge init --upgrade --branch forge-data' : 'forge init --upgrade',
    });
  }
  return options.branch === undefined
    ? toStandard(project, options)
    : toBranch(project, { ...options, branch: options.branch });
}

/** A move is committed where HEAD is, with the files of the working tree: there they would be an agent's. */
async function refuseAttempt(project: HookProject, machine: Machine): Promise<void> {
  const { paths } = project;
  const gates = await findGatePaths(project, machine);
  const isHeld = gates.config.config !== paths.config || gates.workflow.forge_dir !== paths.forge_dir;
  const branch = await findCurrentBranch(toGitRepo(paths.root, machine));
  if (!isHeld && (branch === undefined || !isAttemptBranch(branch))) return;
  throw new ForgeError(
    'state_invalid',
    'The files of an attempt that nobody has merged are checked out here',
    {
      hint: 'git switch main, then run the command again',
      details: { branch: branch ?? null },
    },
  );
}

async function toStandard(
  project: HookProject,
  { by, machine }: { by: Writer; machine: Machine },
): Promise<ModeChange> {
  const { paths, config } = project;
  const mode_changed_at = toMoment(config, machine);
  writeConfig(paths, { initMode: undefined, branchName: undefined, mode_changed_at });
  takeLinesBack(paths, 'info/exclude', STEALTH_LINES);
  makeProjectFiles(paths, 'standard', []);
  await exportFiles(project.store, toTaskFiles(paths), {
    by: { ...by, clock: () => machine.clock.now() },
    source: toExportSource(project, machine),
    canonical: true,
  });
  const { notes } = await connectGit(paths, machine);
  const shared = await commitProject(paths, machine);
  const kept = config.branchName === undefined ? [] : [`Branch ${config.branchName} stays as it is`];
  return {
    from: config.initMode,
    to: 'standard',
    commit: shared.commit,
    notes: [...notes, ...shared.notes, ...kept],
  };
}

async function commitProject(
  paths: ProjectPaths,
  machine: Machine,
): Promise<{ commit: string | null; notes: string[] }> {
  return commitOrTell('.forge, .gitignore and .gitattributes', {
    repo: toGitRepo(paths.root, machine),
    files: readProjectFiles(paths),
    executable: new Set(['.forge/hooks/pre-commit', '.forge/hooks/post-merge']),
    message: 'Share the Forge project',
    ref: 'HEAD',
  });
}

/** Everything stands in the working tree by now, so that a commit that git refuses can be made by hand. */
async function commitOrTell(
  what: string,
  request: CommitRequest,
): Promise<{ commit: string | null; notes: string[] }> {
  try {
    const { commit } = await commitFiles(request);
    return { commit: commit ?? null, notes: [] };
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return { commit: null, notes: [`Not committed: ${error.message}. Commit ${what} yourself`] };
  }
}

async function toBranch(
  project: HookProject,
  { by, machine, branch }: { by: Writer; machine: Machine; branch: string },
): Promise<ModeChange> {
  const { paths, config } = project;
  // Before anything changes: the config that says where the tasks are now could not be committed.
  if (config.initMode === 'standard') checkNothingInProgress(toGitRepo(paths.root, machine));
  const { created_at, idPrefix, name } = config;
  const found = await adoptDataBranch(
    { paths, machine, branch },
    { name, idPrefix, projectId: toProjectId(config), version: 1, created_at },
  );
  if (found.idPrefix !== idPrefix) {
    throw new ForgeError(
      'already_exists',
      `Branch ${branch} holds a project with the prefix ${found.idPrefix}`,
      {
        details: { branch, prefix: found.idPrefix },
      },
    );
  }
  const old = { ...toMode(config), mode_changed_at: config.mode_changed_at };
  const moved = {
    initMode: 'branch',
    branchName: branch,
    mode_changed_at: toMoment(config, machine),
  } as const;
  const text = writeConfig(paths, moved);
  const changed = { ...project, config: parseProjectConfig(text, paths.config) };
  const told: string[] = [];
  const message = 'Keep the tasks on a branch of their own';
  const { commit } = await commitToBranch(changed, { by, machine, message }).catch((error: unknown) => {
    // Nothing but the config says so yet.
    writeConfig(paths, old);
    throw error;
  });
  if (config.initMode === 'standard') takeLinesBack(paths, 'info/exclude', EXCLUDE_LINES);
  makeProjectFiles(paths, 'branch', []);
  if (config.initMode === 'standard') {
    await uninstallHooks({ paths, program: machine.program, env: machine.env });
    told.push(...(await commitSignpost(paths, machine)));
  }
  return {
    from: config.initMode,
    to: 'branch',
    commit: commit ?? null,
    notes: [...told, 'Next: forge sync, and push this branch, so that the other clones follow'],
  };
}

/**
 * The config in the branch that is checked out says where the tasks are now, so that every clone that pulls it follows.
 * The task files stay there as they are: taken away, they would conflict with every branch that still changes them.
 */
async function commitSignpost(paths: ProjectPaths, machine: Machine): Promise<string[]> {
  const repo = toGitRepo(paths.root, machine);
  if ((await readBlob(repo, 'HEAD', CONFIG_PATH)) === undefined) return [];
  const files = new Map([[CONFIG_PATH, readFileSync(paths.config)]]);
  const message = 'Move the tasks to a branch of their own';
  const { notes } = await commitOrTell(CONFIG_PATH, { repo, files, message, ref: 'HEAD' });
  return [
    ...notes,
    `${TASKS_PATH} stays in your branches as it was. When all branches and clones have moved: git rm -r .forge`,
  ];
}

function toMode({ initMode, branchName }: ProjectConfig): Pick<ConfigChange, 'initMode' | 'branchName'> {
  return { initMode: initMode === 'standard' ? undefined : initMode, branchName };
}

/** Later than the move before, also where a clock was wrong. */
function toMoment({ mode_changed_at }: ProjectConfig, { clock }: Machine): string {
  return toIso(Math.max(clock.now(), (parseIso(mode_changed_at ?? '') ?? 0) + 1));
}

/** Everything of the project that belongs into a commit. */
function readProjectFiles(paths: ProjectPaths): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const path of [...listFiles(paths), '.gitignore', '.gitattributes']) {
    const file = join(paths.root, path);
    // What a link leads to may be anybody's, and is not to be published.
    if (lookAt(file)?.isFile() === true) files.set(path, readFileSync(file));
  }
  return files;
}

function listFiles(paths: ProjectPaths): string[] {
  return readdirSync(paths.forge_dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.tmp'))
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(paths.root.length + 1)
        .replaceAll('\\', '/'),
    )
    .sort();
}

interface ConfigChange {
  readonly initMode: InitMode | undefined;
  readonly branchName: string | undefined;
  readonly mode_changed_at: string | undefined;
}

/** Other keys stay as they are. Returns the new text. */
function writeConfig(paths: ProjectPaths, change: ConfigChange): string {
  const bytes = readSharedConfigBytes(paths);
  const config = readJson((bytes?.toString('utf8') ?? '{}').replace(/^\uFEFF/, '')) as Record<
    string,
    unknown
  >;
  const text = `${JSON.stringify({ ...config, ...change }, null, 2)}\n`;
  parseProjectConfig(text, paths.config) satisfies ProjectConfig;
  replaceFile(paths.shared_config, text);
  replaceFile(paths.config, text);
  return text;
}
