import { findSecrets } from '#domain/find-secrets.ts';
import type { GitRepo } from '#git/ask-git.ts';
import { readBlob } from '#git/read-blob.ts';
import { runGit } from '#git/run-git.ts';
import type { Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { HISTORY_PATH, TASKS_PATH } from './task-files.ts';

/** More of them are one sentence. */
const SHOWN = 5;
const RECORD = /^\{"(?:id|task)":"([^"]+)"/;

/**
 * A sentence for each task that would put what looks like a key into the history, where it can hardly be taken out
 * again. Asked of what is staged, or of the files as they are; only of lines that the last commit does not have.
 */
export async function flagSecrets(
  { root }: Pick<ProjectPaths, 'root'>,
  { env }: Pick<Machine, 'env'>,
  of: 'staged' | 'files',
): Promise<string[]> {
  const plain = ['--unified=0', '--no-color', '--no-ext-diff', '--no-textconv', '--no-renames'];
  const against = of === 'staged' ? ['--cached'] : ['HEAD'];
  const args = ['diff', ...plain, ...against, '--', TASKS_PATH, HISTORY_PATH];
  const { exit, stdout } = await runGit(args, { cwd: root, env });
  if (exit !== 0) return [];
  return tellOf(listFlagged(stdout.split('\n').flatMap((line) => (line[0] === '+' ? line.slice(1) : []))));
}

/** The same of files for a branch that is never checked out; only of lines that none of the commits has. */
export async function flagSecretsFor(
  repo: GitRepo,
  files: ReadonlyMap<string, Uint8Array>,
  revs: readonly (string | undefined)[],
): Promise<string[]> {
  const flagged = [];
  for (const path of [TASKS_PATH, HISTORY_PATH]) {
    const text = Buffer.from(files.get(path) ?? []).toString('utf8');
    // Nearly always nothing, and then no commit is read.
    const found = findSecrets(text).length === 0 ? [] : listFlagged(text.split('\n'));
    const known = found.length === 0 ? new Set() : await readLines(repo, path, revs);
    flagged.push(...found.filter(({ line }) => !known.has(line)));
  }
  return tellOf(flagged);
}

async function readLines(
  repo: GitRepo,
  path: string,
  revs: readonly (string | undefined)[],
): Promise<ReadonlySet<string>> {
  const lines = new Set<string>();
  for (const rev of revs) {
    const bytes = rev === undefined ? undefined : await readBlob(repo, rev, path);
    for (const line of bytes?.toString('utf8').split('\n') ?? []) lines.add(line);
  }
  return lines;
}

interface Flagged {
  readonly id: string;
  readonly line: string;
  readonly names: readonly string[];
}

function listFlagged(lines: readonly string[]): Flagged[] {
  return lines.flatMap((line) => {
    const id = RECORD.exec(line)?.[1];
    const names = id === undefined ? [] : findSecrets(line);
    return id === undefined || names.length === 0 ? [] : [{ id, line, names }];
  });
}

function tellOf(flagged: readonly Flagged[]): string[] {
  const found = new Map<string, Set<string>>();
  for (const { id, names } of flagged) found.set(id, new Set([...(found.get(id) ?? []), ...names]));
  const told = [...found].map(
    ([id, names]) => `${id} holds what looks like ${[...names].join(' and ')}, and is about to be committed`,
  );
  if (told.length <= SHOWN) return told;
  return [...told.slice(0, SHOWN), `${told.length - SHOWN} more tasks do`];
}
