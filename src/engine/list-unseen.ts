import { posix } from 'node:path';
import type { Attempt } from '#contract/attempt.ts';
import { askGit } from '#git/ask-git.ts';
import { askOnce } from '#git/ask-once.ts';
import type { WorkPlace } from './work.ts';

/** Where programs look for what they run or load, without any line that names it. */
const PACKAGES = /(?:^|\/)(?:node_modules|__pycache__|site-packages|\.venv|venv)\/|\.py[co]$/;

interface Entry {
  readonly path: string;
  readonly mode: string;
  readonly blob: string;
  readonly is_new: boolean;
}

/**
 * Paths that an attempt's commits bring and that could decide a check although no person expects them in a commit: what the
 * user's rules ignore, packages and compiled files, links that lead out of the tree. A person looks at those.
 */
export async function listUnseen(
  place: Pick<WorkPlace, 'repo'>,
  { base_commit, head_commit }: Pick<Attempt, 'base_commit' | 'head_commit'>,
): Promise<readonly string[]> {
  const entries = await listEntries(place, base_commit, head_commit ?? base_commit);
  const ignored = await listIgnored(
    place,
    entries.filter(({ is_new }) => is_new).map(({ path }) => path),
  );
  const found: string[] = [];
  for (const { path, mode, blob } of entries)
    if (ignored.has(path) || PACKAGES.test(path) || (mode === LINK && (await leadsOut(place, path, blob))))
      found.push(path);
  return found;
}

const LINK = '120000';

/** What the one commit has and the other has not, or has otherwise. */
async function listEntries({ repo }: Pick<WorkPlace, 'repo'>, from: string, to: string): Promise<Entry[]> {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--raw', from, to];
  const { stdout } = await askOnce(repo, [from, to], args);
  const parts = stdout.toString('utf8').split('\0').slice(0, -1);
  const entries: Entry[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [, mode = '', , blob = '', status = ''] = (parts[at] ?? '').split(' ');
    if (status !== 'D') entries.push({ path: parts[at + 1] ?? '', mode, blob, is_new: status === 'A' });
  }
  return entries;
}

/** By the rules of the user's own checkout, also where the path is tracked by now. */
async function listIgnored(
  { repo }: Pick<WorkPlace, 'repo'>,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const { stdout } = await askGit(repo, ['check-ignore', '-z', '--no-index', '--stdin'], {
    input: `${paths.join('\0')}\0`,
  });
  return new Set(stdout.split('\0').filter((path) => path !== ''));
}

/** Also where it is not certain: `a/../..` leads elsewhere where `a` is a link itself. */
async function leadsOut({ repo }: Pick<WorkPlace, 'repo'>, path: string, blob: string): Promise<boolean> {
  const target = (await askOnce(repo, [blob], ['cat-file', 'blob', blob])).stdout.toString('utf8');
  const parts = target.split('/').filter((part) => part !== '' && part !== '.');
  const isBack = parts.some((part, at) => part === '..' && at > 0 && parts[at - 1] !== '..');
  if (target.startsWith('/') || isBack) return true;
  return posix.join(posix.dirname(path), target).startsWith('..');
}
