import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSealed } from '#domain/record-seal.ts';
import { BRANCH_FOLDER } from '#domain/attempt-names.ts';
import { askGit, type GitRepo } from '#git/ask-git.ts';
import { findCurrentBranch, findDefaultBranch } from '#git/branches.ts';
import { type FileCommit, listFileCommits } from '#git/file-commits.ts';
import { findOperationInProgress } from '#git/operation-in-progress.ts';
import { type BlobReader, openBlobReader } from '#git/read-blob.ts';
import { readRef, readSymbolicRef } from '#git/read-ref.ts';
import { checksum } from '#kernel/checksum.ts';
import { LIMITS } from '#kernel/limits.ts';
import { readJson } from '#kernel/read-json.ts';
import type { AttemptStore } from '#store/attempt-store.ts';
import { type Machine, toGitRepo } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { splitText } from './read-file-lines.ts';
import { CONFIG_PATH, HISTORY_PATH, TASKS_PATH } from './task-files.ts';

/**
 * Lines of task files that an agent wrote into the files of its attempt, and that no person has merged. An agent has
 * Forge to write tasks with, which judges what it may; its files are its proposal, and a fold would make it the user's
 * word: checks and reviewers of other tasks would be gone because a person looked at a branch.
 */
export interface HeldLines {
  /** Of the commits that wrote them. */
  readonly key: string;
  /** Where HEAD is; empty where no working tree is meant. */
  readonly place: string;
  /** The branches of the attempts; ids of those that this clone does not know. */
  readonly attempts: readonly string[];
  has(path: string, text: string): boolean;
}

export type AttemptLister = Pick<AttemptStore, 'listAttempts'>;

/** What the files of the working tree may be made of: HEAD, what is being merged, and branches of attempts. */
export async function findHeldHere(store: AttemptLister, repo: GitRepo): Promise<HeldLines | undefined> {
  const head = await readRef(repo, 'HEAD');
  if (head === undefined) return undefined;
  const tips = [head, ...readOperationHeads(repo)];
  // A file may be taken from such a branch without a switch (`git checkout forge/… -- .forge`).
  const globs = [`refs/heads/${BRANCH_FOLDER}*`, `refs/remotes/*/${BRANCH_FOLDER}*`, `${RESCUES}*`];
  return findHeld(store, repo, { tips, globs, head });
}

/** For a fold of the working tree's files. */
export function heldFinder(
  { store, paths }: { readonly store: AttemptLister; readonly paths: Pick<ProjectPaths, 'root'> },
  machine: Pick<Machine, 'env'>,
): () => Promise<HeldLines | undefined> {
  return () => findHeldHere(store, toGitRepo(paths.root, machine));
}

/** Whether work is merged into the branch that is checked out: what a person commits there is theirs. */
export async function isOnTarget(store: AttemptLister, repo: GitRepo): Promise<boolean> {
  const branch = await findCurrentBranch(repo);
  const attempts = await store.listAttempts({});
  const { names } = await listTargets(repo, new Set(attempts.map(({ target }) => target)));
  return branch !== undefined && names.includes(branch);
}

/** Of one revision. */
export function findHeldAt(store: AttemptLister, repo: GitRepo, rev: string): Promise<HeldLines | undefined> {
  return findHeld(store, repo, { tips: [rev], globs: [], head: undefined });
}

/** Where HEAD is, by file reads alone: while it stays, what is held stays. */
export async function readHeadPlace(repo: GitRepo): Promise<string> {
  return checksum(`${await readSymbolicRef(repo, 'HEAD')} ${await readRef(repo, 'HEAD')}`);
}

export const RESCUES = 'refs/forge/rescue/';
const PATHS = [TASKS_PATH, HISTORY_PATH] as const;

interface Sources {
  readonly tips: readonly string[];
  readonly globs: readonly string[];
  /** Of the working tree, where its files are meant. */
  readonly head: string | undefined;
}

async function findHeld(
  store: AttemptLister,
  repo: GitRepo,
  sources: Sources,
): Promise<HeldLines | undefined> {
  const attempts = await store.listAttempts({});
  const targets = await listTargets(repo, new Set(attempts.map(({ target }) => target)));
  const query = {
    tips: sources.tips,
    globs: sources.globs,
    without: targets.commits,
    without_globs: targets.globs,
    paths: PATHS,
    limit: LIMITS.attempt_file_commits,
  };
  const commits = await listFileCommits(repo, query);
  if (commits.length === 0) return undefined;
  const merged = new Set(attempts.flatMap(({ id, state }) => (state === 'merged' ? [id] : [])));
  const bases = attempts.map(({ base_commit }) => base_commit);
  const rescued = await listRescuedCommits(repo, query, bases);
  const own = commits.filter(
    ({ commit, attempts: ids }) => ids.some((id) => !merged.has(id)) || rescued.has(commit),
  );
  if (own.length === 0) return undefined;
  const names = new Map(attempts.map(({ id, branch }) => [id, branch]));
  const clean = await readTargetLines(repo, targets);
  const has = await traceLines(repo, { commits, own: new Set(own), clean, ...sources });
  return {
    key: checksum(own.map(({ commit }) => commit).join(' ')),
    place: sources.head === undefined ? '' : await readHeadPlace(repo),
    attempts: [...new Set(own.flatMap(({ attempts: ids }) => ids.map((id) => names.get(id) ?? id)))],
    has,
  };
}

/** Commits of an agent that lay beside its branch when its folder went: Forge has written no trailers into those. */
async function listRescuedCommits(
  repo: GitRepo,
  query: Parameters<typeof listFileCommits>[1],
  bases: readonly string[],
): Promise<ReadonlySet<string>> {
  const there = await askGit(repo, ['for-each-ref', '--count=1', RESCUES]);
  if (there.stdout === '') return new Set();
  const without = [...query.without, ...(await listKnown(repo, bases))];
  const commits = await listFileCommits(repo, { ...query, tips: [], globs: [`${RESCUES}*`], without });
  return new Set(commits.map(({ commit }) => commit));
}

/** Git refuses a whole list for one commit that is gone. */
export async function listKnown(repo: GitRepo, commits: readonly string[]): Promise<string[]> {
  const input = [...new Set(commits)].map((commit) => `${commit}\n`).join('');
  const { stdout } = await askGit(repo, ['cat-file', '--batch-check=%(objecttype) %(objectname)'], { input });
  return stdout.split('\n').flatMap((line) => /^commit ([0-9a-f]+)$/.exec(line)?.[1] ?? []);
}

export interface Targets {
  readonly names: readonly string[];
  readonly commits: readonly string[];
  /** The same branches as the remotes have them. */
  readonly globs: readonly string[];
}

/**
 * Where work is merged: the default branch, the one that the config on it names, and those of the attempts. Never what
 * the checkout's own config says, which may be the agent's.
 */
export async function listTargets(repo: GitRepo, targets: ReadonlySet<string>): Promise<Targets> {
  const main = await findDefaultBranch(repo);
  const named = main === undefined ? undefined : await readNamedTarget(repo, main);
  const names = [...new Set([main, named, ...targets])].flatMap((name) =>
    name === undefined || name.startsWith(BRANCH_FOLDER) ? [] : [name],
  );
  const tips = await Promise.all(names.map((name) => readRef(repo, `refs/heads/${name}`)));
  return {
    names,
    commits: [...new Set(tips.flatMap((tip) => tip ?? []))],
    globs: names.map((name) => `refs/remotes/*/${name}`),
  };
}

async function readNamedTarget(repo: GitRepo, main: string): Promise<string | undefined> {
  const { exit, stdout } = await askGit(repo, ['show', `refs/heads/${main}:${CONFIG_PATH}`]);
  if (exit !== 0) return undefined;
  try {
    const config = readJson(stdout) as { readonly merge?: { readonly target?: unknown } } | null;
    const target = config?.merge?.target;
    return typeof target === 'string' && /^[\w./-]+$/.test(target) ? target : undefined;
  } catch {
    return undefined; // the code that uses the config says what is wrong with it
  }
}

type Lines = ReadonlyMap<string, ReadonlySet<string>>;

/** Every line that a target has: a person has taken it. */
async function readTargetLines(repo: GitRepo, { commits, globs }: Targets): Promise<Lines> {
  const args = ['for-each-ref', '--format=%(objectname)', ...globs];
  const { stdout } = await askGit(repo, args);
  const tips = new Set([...commits, ...stdout.split('\n').filter((line) => line !== '')]);
  await using reader = openBlobReader(repo);
  const lines = new Map<string, Set<string>>(PATHS.map((path) => [path, new Set<string>()]));
  for (const tip of tips)
    for (const path of PATHS)
      for (const text of await readLines(reader, tip, path)) lines.get(path)?.add(text);
  return lines;
}

async function readLines(reader: BlobReader, rev: string, path: string): Promise<string[]> {
  const bytes = await reader.read(rev, path);
  return bytes === undefined ? [] : [...splitText(bytes.toString('utf8'))].map(({ text }) => text);
}

/**
 * Follows the lines through the commits. A line is the agent's where a commit of an attempt wrote it, where a merge made
 * it of such a one, or where a person edited such a one by hand. One that a clone of a person's wrote instead is theirs.
 */
async function traceLines(
  repo: GitRepo,
  {
    commits,
    own,
    clean,
    head,
  }: {
    readonly commits: readonly FileCommit[];
    readonly own: ReadonlySet<FileCommit>;
    readonly clean: Lines;
    readonly head: string | undefined;
  },
): Promise<HeldLines['has']> {
  const isOver = commits.length >= LIMITS.attempt_file_commits;
  const held = new Set<string>();
  const tasks = new Set<string>();
  await using reader = openBlobReader(repo);
  for (const one of isOver ? [] : commits) {
    for (const path of PATHS) {
      const before = await readParents(reader, one, path);
      for (const text of await readLines(reader, one.commit, path)) {
        if (before.has(text) || clean.get(path)?.has(text) === true) continue;
        const id = idOf(text);
        if (!isAgents(one, { text, id, before, own, held, tasks })) continue;
        held.add(`${path}:${text}`);
        if (id !== undefined) tasks.add(id);
      }
    }
  }
  const atHead =
    head === undefined || tasks.size === 0 ? undefined : byTask(await readLines(reader, head, TASKS_PATH));
  const operation = head === undefined ? undefined : findOperationInProgress(repo.git_dir);
  const isMerging = operation !== undefined && operation.name !== 'bisect';
  return (path, text) => {
    if (clean.get(path)?.has(text) === true) return false;
    if (isOver || held.has(`${path}:${text}`)) return true;
    const id = path === TASKS_PATH && tasks.size > 0 ? idOf(text) : undefined;
    if (atHead === undefined || id === undefined || !tasks.has(id)) return false;
    const there = atHead.get(id);
    if (there === text) return false;
    return isMerging || (!isSealed(text) && held.has(`${path}:${there}`));
  };
}

function isAgents(
  one: FileCommit,
  {
    text,
    id,
    before,
    own,
    held,
    tasks,
  }: {
    readonly text: string;
    readonly id: string | undefined;
    readonly before: ReadonlySet<string>;
    readonly own: ReadonlySet<FileCommit>;
    readonly held: ReadonlySet<string>;
    readonly tasks: ReadonlySet<string>;
  },
): boolean {
  if (own.has(one)) return true;
  if (id === undefined || !tasks.has(id)) return false;
  if (one.parents.length > 1) return true;
  return (
    !isSealed(text) && [...before].some((line) => held.has(`${TASKS_PATH}:${line}`) && idOf(line) === id)
  );
}

async function readParents(reader: BlobReader, one: FileCommit, path: string): Promise<Set<string>> {
  const lines = new Set<string>();
  for (const parent of one.parents) for (const text of await readLines(reader, parent, path)) lines.add(text);
  return lines;
}

function byTask(lines: readonly string[]): Map<string, string> {
  return new Map(
    lines.flatMap((text) => {
      const id = idOf(text);
      return id === undefined ? [] : [[id, text] as const];
    }),
  );
}

/** Lines that Forge wrote tell it at their beginning. */
function idOf(text: string): string | undefined {
  const [, quick] = /^\{"id":"([A-Za-z0-9._-]+)"/.exec(text) ?? [];
  if (quick !== undefined) return quick;
  try {
    const { id } = readJson(text) as { readonly id?: unknown };
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}

/** What git is about to put together with HEAD. */
export function readOperationHeads({ git_dir }: GitRepo): string[] {
  return ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'REBASE_HEAD'].flatMap((name) => {
    try {
      return readFileSync(join(git_dir, name), 'utf8').match(/^[0-9a-f]{40,64}$/gm) ?? [];
    } catch {
      return []; // most are not there
    }
  });
}
