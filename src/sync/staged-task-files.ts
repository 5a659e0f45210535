import { join } from 'node:path';
import type { GitRepo } from '#git/ask-git.ts';
import { readRef } from '#git/read-ref.ts';
import { readSharedModes } from '#git/shared-modes.ts';
import { runGit } from '#git/run-git.ts';
import type { CommittedFiles } from './committed-files.ts';
import type { ExportOptions, StoredVersion } from './export-files.ts';
import { COMMITTED_PATHS, type StagedChange } from './flag-secrets.ts';
import type { Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { CONFIG_PATH, HISTORY_PATH, TASKS_PATH, toTaskFiles } from './task-files.ts';

/** What the index that git commits from has of the project. */
export interface ProjectIndex {
  /** Paths, with the names that git has for their content. */
  readonly oids: ReadonlyMap<string, string>;
  /** Paths that git was told not to look at, with the option of `git update-index` that ends it. */
  readonly unwatched: ReadonlyMap<string, string>;
}

/** The hook's own environment is passed on: it names the index that the commit is made from. */
export async function readIndex({ root }: ProjectPaths, { env }: Machine): Promise<ProjectIndex> {
  const wanted = [CONFIG_PATH, TASKS_PATH, HISTORY_PATH].map((path) => `:(top,literal)${path}`);
  const args = ['ls-files', '-v', '-z', '--stage', '--full-name', '--', ...wanted];
  const { stdout } = await runGit(args, { cwd: root, env });
  const oids = new Map<string, string>();
  const unwatched = new Map<string, string>();
  for (const line of stdout.split('\0')) {
    const [, tag, oid, path] = /^(\w) \d+ ([0-9a-f]+) 0\t([^]+)$/.exec(line) ?? [];
    if (tag === undefined || oid === undefined || path === undefined) continue;
    oids.set(path, oid);
    if (tag.toUpperCase() === 'S') unwatched.set(path, '--no-skip-worktree');
    else if (tag !== tag.toUpperCase()) unwatched.set(path, '--no-assume-unchanged');
  }
  return { oids, unwatched };
}

/** Undefined where git has to write its objects by itself: others use them too, or they lie elsewhere. */
export function findObjects(
  paths: ProjectPaths,
  { env }: Machine,
  { oids }: ProjectIndex,
): ExportOptions['git'] {
  const isOwn = readSharedModes(paths.common_dir).file === 0o600;
  if (!isOwn || env['GIT_OBJECT_DIRECTORY'] !== undefined) return undefined;
  const { tasks, history } = toTaskFiles(paths);
  const staged = new Map<string, string>();
  for (const [path, file] of [
    [TASKS_PATH, tasks],
    [HISTORY_PATH, history],
  ] as const) {
    const oid = oids.get(path);
    if (oid !== undefined) staged.set(file, oid);
  }
  return { objects: join(paths.common_dir, 'objects'), staged };
}

/** Every path that is staged, with the name that git has for the version of the last commit; zeros where it has none. */
export async function readStaged(
  { root }: ProjectPaths,
  { env }: Machine,
): Promise<ReadonlyMap<string, string>> {
  const args = ['diff', '--cached', '--raw', '--no-abbrev', '--no-renames', '--ignore-submodules=none', '-z'];
  const { stdout } = await runGit([...args, '--', ':(top)'], { cwd: root, env });
  return new Map(parseRaw(stdout).map(({ path, before }) => [path, before]));
}

/** Whether anything but the task files is staged. */
export function hasOthers(staged: ReadonlyMap<string, string>): boolean {
  return [...staged.keys()].some((path) => path !== TASKS_PATH && path !== HISTORY_PATH);
}

/**
 * What HEAD has of the task files, by what is known already: a path that is not staged is as the index has it. And what
 * the next commit would have, where that is staged: the working tree may have something else (`git apply --cached`).
 */
export async function readHeadFiles(
  {
    paths,
    machine,
    repo,
  }: { readonly paths: ProjectPaths; readonly machine: Machine; readonly repo: GitRepo },
  { oids }: ProjectIndex,
  staged: ReadonlyMap<string, string>,
): Promise<readonly CommittedFiles[]> {
  const commit = await readRef(repo, 'HEAD');
  if (commit === undefined) return [];
  const toOid = (path: string): string | undefined => {
    const oid = staged.get(path) ?? oids.get(path);
    return oid === undefined || /^0+$/.test(oid) ? undefined : oid;
  };
  const head = { role: 'HEAD', commit, tasks: toOid(TASKS_PATH), history: toOid(HISTORY_PATH) } as const;
  const toNext = (path: string): string | undefined => (staged.has(path) ? oids.get(path) : undefined);
  const [tasks, history] = [toNext(TASKS_PATH), toNext(HISTORY_PATH)];
  if (tasks === undefined && history === undefined) return [head];
  const was_in_tree = await wasAdded(paths, machine);
  return [head, { role: 'NEXT', commit, tasks, history, was_in_tree }];
}

/** Whether the index has the task file from the working tree, and not by a patch: then it knows what that file was. */
async function wasAdded({ root }: ProjectPaths, { env }: Machine): Promise<boolean> {
  const args = ['ls-files', '--debug', '--', `:(top,literal)${TASKS_PATH}`];
  const { stdout } = await runGit(args, { cwd: root, env });
  return !/^ *mtime: 0:0$/m.test(stdout);
}

/** A file of the project that is staged, by the names that git has for the version of the last commit and for the new one. */
export interface StagedFile {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** Undefined where git cannot tell. */
export async function listStaged(
  { root }: ProjectPaths,
  { env }: Machine,
): Promise<StagedFile[] | undefined> {
  const args = ['diff', '--cached', '--raw', '--no-abbrev', '--no-renames', '-z'];
  const { exit, stdout } = await runGit([...args, '--', ...COMMITTED_PATHS], { cwd: root, env });
  return exit === 0 ? parseRaw(stdout) : undefined;
}

function parseRaw(text: string): StagedFile[] {
  const words = text.split('\0');
  return words.flatMap((word, at) => {
    const [, before, after] = /^:\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) [A-Z]\d*$/.exec(word) ?? [];
    const path = words[at + 1];
    return before === undefined || after === undefined || path === undefined ? [] : [{ path, before, after }];
  });
}

/** The staged files, with their added lines where these are known: made here from the very bytes of the last commit. */
export function toChanges(
  staged: readonly StagedFile[],
  stored: readonly (StoredVersion & { readonly path: string })[],
): StagedChange[] {
  return staged.map(({ path, before, after }) => {
    const own = stored.find((one) => one.path === path && one.before === before && one.after === after);
    return { path, added: own?.added };
  });
}
