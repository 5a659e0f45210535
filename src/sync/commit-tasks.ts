import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCurrentBranch } from '#git/branches.ts';
import { checkNothingInProgress, commitFiles } from '#git/commit-files.ts';
import { readBlob } from '#git/read-blob.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import type { Writer } from '#store/store.ts';
import { commitToBranch } from './branch-mode.ts';
import { statFile } from './file-changes.ts';
import { commitOnTop } from './commit-on-top.ts';
import { noteHead } from './committed-files.ts';
import { exportFiles } from './export-files.ts';
import { toExportSource } from './export-source.ts';
import { flagSecretsFor, refuseSecrets } from './flag-secrets.ts';
import { noteCommittedBlobs } from './loose-task-blobs.ts';
import { toGitRepo, type Machine } from './machine.ts';
import { replaceFile } from './place-file.ts';
import type { HookProject } from './run-hook.ts';
import { CONFIG_PATH, HISTORY_PATH, type TaskFiles, TASKS_PATH, toTaskFiles } from './task-files.ts';
import { findUnpublished, HOOK_FILES } from './unpublished-files.ts';

export interface CommittedTasks {
  readonly commit: string | null;
  readonly changed: boolean;
  readonly branch: string | null;
}

export const COMMIT_MESSAGE = 'Update tasks';

/** Commits what the store knows, and nothing else: an index of its own, no hooks, no word about what is staged. */
export async function commitTasks(
  project: HookProject,
  {
    by,
    machine,
    message = COMMIT_MESSAGE,
  }: {
    by: Writer;
    machine: Machine;
    message?: string | undefined;
  },
): Promise<CommittedTasks> {
  const { config, paths } = project;
  if (config.initMode === 'stealth') {
    throw new ForgeError(
      'state_invalid',
      'In stealth mode tasks stay on this machine and are never committed',
      {
        hint: 'forge init --upgrade',
      },
    );
  }
  const repo = toGitRepo(paths.root, machine);
  if (config.initMode === 'branch') {
    const committed = await commitToBranch(project, { by, machine, message });
    if (committed.changed) await noteCommittedBlobs({ paths, repo, machine }, committed.commit);
    return committed;
  }
  // Before anything is written: with a task file that changed, `git merge --abort` would be refused.
  checkNothingInProgress(repo);
  const files = toTaskFiles(paths);
  const { commit, changed } = await commitOnTop(async () => {
    const before = readFiles(files);
    const { head, contents } = await exportAll(project, { by, machine });
    refuseSecrets(await flagSecretsFor(repo, contents, { revs: ['HEAD'], paths, machine }));
    const more = { executable: HOOK_FILES, ...(head && { onTop: head }) };
    try {
      return await commitFiles({ repo, files: contents, message, ref: 'HEAD', ...more });
    } catch (error) {
      // No key to sign with, or no name: with files that are newer than the last commit, `git pull` would be refused.
      if (!isForgeError(error) || error.code !== 'version_conflict') putBack(files, before, contents);
      throw error;
    }
  });
  if (changed) await noteCommittedBlobs({ paths, repo, machine }, commit);
  await noteHead(project, { env: machine.env, now: machine.clock.now() });
  return { commit: commit ?? null, changed, branch: (await findCurrentBranch(repo)) ?? null };
}

type FileBytes = Readonly<Record<'tasks' | 'history', Buffer | undefined>>;

function readFiles({ tasks, history }: TaskFiles): FileBytes {
  return { tasks: readIfThere(tasks), history: readIfThere(history) };
}

/** A link or a device in its place is none: it may have no end. */
function readIfThere(path: string): Buffer | undefined {
  return statFile(path) === undefined ? undefined : readFileSync(path);
}

/** Each as it was, unless another process wrote it since. What they lack now is in the store. */
function putBack(files: TaskFiles, before: FileBytes, written: ReadonlyMap<string, Buffer>): void {
  for (const [name, path] of [
    ['tasks', TASKS_PATH],
    ['history', HISTORY_PATH],
  ] as const) {
    const [old, now] = [before[name], readIfThere(files[name])];
    const own = written.get(path);
    if (old === undefined || now === undefined || own?.equals(now) !== true || old.equals(now)) continue;
    replaceFile(files[name], old);
  }
}

async function exportAll(
  project: HookProject,
  { by, machine }: { readonly by: Writer; readonly machine: Machine },
): Promise<{ readonly head: string | undefined; readonly contents: ReadonlyMap<string, Buffer> }> {
  const { config, paths, store } = project;
  const repo = toGitRepo(paths.root, machine);
  const files = toTaskFiles(paths);
  const { head } = await exportFiles(store, files, {
    by: { ...by, clock: () => machine.clock.now() },
    source: toExportSource(project, machine),
    canonical: config.settings.gcOnExport,
  });
  // Where only `.forge/tasks.jsonl` is committed, a clone finds tasks and no project.
  const isKnown = (await readBlob(repo, 'HEAD', CONFIG_PATH)) !== undefined;
  const more = isKnown ? [] : (await findUnpublished(paths, machine, 'HEAD')).files;
  const contents = new Map([
    [TASKS_PATH, readFileSync(files.tasks)],
    [HISTORY_PATH, readFileSync(files.history)],
    ...more.map((path) => [path, readFileSync(join(paths.root, path))] as const),
  ]);
  return { head, contents };
}
