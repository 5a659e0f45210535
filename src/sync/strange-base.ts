import { isSealed } from '#domain/record-seal.ts';
import { askGit, type GitRepo } from '#git/ask-git.ts';
import { openBlobReader } from '#git/read-blob.ts';
import { splitText } from './read-file-lines.ts';
import { TASKS_PATH } from './task-files.ts';

/** So many versions of the file are looked through. */
const VERSIONS = 200;

/**
 * The edited lines of a common ancestor that our side never had: `git cherry-pick`, `rebase`, `stash pop` and `switch -m` name
 * one that is no ancestor of ours. There our line is not what a person made of the ancestor's, and takes nothing back.
 */
export async function findStrange(
  repo: GitRepo,
  { base, ours }: { readonly base: string; readonly ours: string },
): Promise<ReadonlySet<string>> {
  const here = new Set(listTexts(ours));
  const strange = new Set(listTexts(base).filter((text) => !here.has(text) && !isSealed(text)));
  if (strange.size === 0) return strange;
  const { stdout } = await askGit(repo, [
    'log',
    `-${VERSIONS}`,
    '--full-history',
    '--format=%H',
    'HEAD',
    '--',
    `:(top,literal)${TASKS_PATH}`,
  ]);
  await using reader = openBlobReader(repo);
  const read = async (rev: string): Promise<string> =>
    (await reader.read(rev, TASKS_PATH))?.toString('utf8') ?? '';
  // With `switch -m` ours is not what HEAD has.
  if ((await read('HEAD')) !== ours) return strange;
  for (const commit of stdout.split('\n').filter((line) => line !== '')) {
    for (const text of listTexts(await read(commit))) strange.delete(text);
    if (strange.size === 0) break;
  }
  return strange;
}

function listTexts(file: string): string[] {
  return [...splitText(file)].map(({ text }) => text);
}
