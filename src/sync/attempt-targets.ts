import { BRANCH_FOLDER } from '#domain/attempt-names.ts';
import { askGit, type GitRepo } from '#git/ask-git.ts';
import { findDefaultBranch } from '#git/branches.ts';
import { type BlobReader, openBlobReader } from '#git/read-blob.ts';
import { readRef } from '#git/read-ref.ts';
import { readJson } from '#kernel/read-json.ts';
import { splitText } from './read-file-lines.ts';
import { CONFIG_PATH, HISTORY_PATH, TASKS_PATH } from './task-files.ts';

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
export async function listTargets(
  repo: GitRepo,
  attempts: readonly { readonly target: string }[],
): Promise<Targets> {
  const main = await findDefaultBranch(repo);
  const named = main === undefined ? undefined : await readNamedTarget(repo, main);
  const targets = attempts.map(({ target }) => target);
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

export const TRACED_PATHS = [TASKS_PATH, HISTORY_PATH] as const;

/** Lines of each file. */
export type LinesByPath = ReadonlyMap<string, ReadonlySet<string>>;

/** Every line that a target has: a person has taken it. */
export async function readTargetLines(repo: GitRepo, { commits, globs }: Targets): Promise<LinesByPath> {
  return readLinesOf(repo, [...commits, ...(await listTips(repo, globs))]);
}

/** The lines of the task files of all these commits. */
export async function readLinesOf(repo: GitRepo, commits: readonly string[]): Promise<LinesByPath> {
  await using reader = openBlobReader(repo);
  const lines = new Map<string, Set<string>>(TRACED_PATHS.map((path) => [path, new Set<string>()]));
  for (const commit of new Set(commits))
    for (const [path, known] of lines)
      for (const text of await readLinesAt(reader, commit, path)) known.add(text);
  return lines;
}

/** Where the refs of these patterns are. */
export async function listTips(repo: GitRepo, globs: readonly string[]): Promise<string[]> {
  const { stdout } = await askGit(repo, ['for-each-ref', '--format=%(objectname)', ...globs]);
  return stdout.split('\n').filter((line) => line !== '');
}

export async function readLinesAt(reader: BlobReader, rev: string, path: string): Promise<string[]> {
  const bytes = await reader.read(rev, path);
  return bytes === undefined ? [] : [...splitText(bytes.toString('utf8'))].map(({ text }) => text);
}
