import { findUndecided } from '#domain/merge-changes.ts';
import { isSealed } from '#domain/record-seal.ts';
import type { GitRepo } from '#git/ask-git.ts';
import { findMergeBases } from '#git/merge-base.ts';
import { readBlob } from '#git/read-blob.ts';
import type { FileLine } from '#store/replication.ts';
import { splitText } from './read-file-lines.ts';
import { TASKS_PATH } from './task-files.ts';
import { idOfLine } from './trace-lines.ts';

/** The lines of a parent of HEAD, a merge, without those of which the merge has decided. */
export async function withoutDecided(
  repo: GitRepo,
  parents: readonly string[],
  lines: readonly FileLine[],
): Promise<readonly FileLine[]> {
  if (lines.every(({ text }) => isSealed(text))) return lines;
  const readAll = (revs: readonly string[]): Promise<Set<string>[]> =>
    Promise.all(revs.map((rev) => readLines(repo, rev)));
  const merged = {
    result: await readLines(repo, 'HEAD'),
    parents: await readAll(parents),
    bases: await readAll(await findMergeBases(repo, parents)),
  };
  const isUndecided = findUndecided(merged, idOfLine);
  return lines.filter(({ text }) => isUndecided(text));
}

async function readLines(repo: GitRepo, rev: string): Promise<Set<string>> {
  const bytes = await readBlob(repo, rev, TASKS_PATH);
  return new Set([...splitText(bytes?.toString('utf8') ?? '')].map(({ text }) => text));
}
