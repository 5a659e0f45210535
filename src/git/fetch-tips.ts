import { copyFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isForgeError } from '#kernel/errors.ts';
import { askGit, type GitRepo } from './ask-git.ts';
import { toAlternate, toGitFolder } from './attempt-git-folder.ts';
import type { Checkout } from './checkout-record.ts';
import { toConfigText, toFormatEntries } from './control-config.ts';
import type { ControlGit } from './control-directory.ts';
import { look } from './guard-place.ts';
import { type CommitVerdict, judgeCommits } from './judge-commits.ts';
import { toShownStderr } from './run-git.ts';

/**
 * Brings commits of a checkout, with all that they lead to, among the user's objects. Not from the checkout itself but
 * from a directory that borrows its objects: whatever stands in the checkout's configuration is not even read. What
 * comes is checked as from any stranger, and by the rules of the user's repository before it comes.
 */
export async function fetchTips(
  control: ControlGit,
  checkout: Checkout,
  wanted: { readonly tips: readonly string[]; readonly known: string },
): Promise<Fetched> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-fetch-'));
  try {
    await makeSource(control, checkout, folder, wanted.tips);
    const source = toSource(control, folder);
    const verdict = await judgeCommits(control, checkout, { source, ...wanted }).catch(toBroken);
    if (typeof verdict === 'string') return { kind: 'broken', why: verdict };
    if (verdict.why !== undefined) return { kind: 'unfit', ...verdict, why: verdict.why };
    const refs = wanted.tips.map((_, at) => `refs/tips/${at}`);
    const result = await askGit(
      control,
      [...FETCH, `--negotiation-tip=${wanted.known}`, '--end-of-options', folder, ...refs],
      // Where objects are missing git must say so, not fetch them from where the checkout says.
      { more_env: { GIT_ALLOW_PROTOCOL: 'file', GIT_NO_LAZY_FETCH: '1' } },
    );
    if (result.exit === 0) return { kind: 'fetched', secrets: verdict.secrets };
    return { kind: 'broken', why: toShownStderr(result.stderr) || `git ended with ${result.exit}` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export type Fetched =
  | { readonly kind: 'fetched'; readonly secrets: CommitVerdict['secrets'] }
  /** Objects that are missing or spoilt. */
  | { readonly kind: 'broken'; readonly why: string }
  /** They must not come: nothing of them did. `onto` are commits of the user's that they stand on. */
  | ({ readonly kind: 'unfit'; readonly why: string } & Pick<CommitVerdict, 'onto' | 'secrets'>);

/** Objects that cannot be read cannot be judged, nor fetched; a filter that fails is for a person to see. */
function toBroken(error: unknown): string {
  if (isForgeError(error) && error.code === 'io_failed' && error.details.filter === undefined)
    return error.message;
  throw error;
}

/** git on the source: its configuration is Forge's, its objects are those of the checkout and of the user. */
function toSource(control: ControlGit, folder: string): GitRepo {
  const git_env = { GIT_DIR: folder, GIT_ALLOW_PROTOCOL: 'none', GIT_NO_LAZY_FETCH: '1' };
  return { ...control, worktree: folder, git_dir: folder, common_dir: folder, git_env };
}

const FETCH: readonly string[] = [
  'fetch',
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-recurse-submodules',
  '--no-auto-maintenance',
];

async function makeSource(
  control: ControlGit,
  checkout: Checkout,
  folder: string,
  tips: readonly string[],
): Promise<void> {
  const own = toGitFolder(checkout);
  await mkdir(join(folder, 'objects', 'info'), { recursive: true });
  await mkdir(join(folder, 'refs', 'tips'), { recursive: true });
  await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/none\n');
  const format = control.inherited.filter(({ key }) => key === 'extensions.objectformat');
  await writeFile(join(folder, 'config'), toConfigText([...toFormatEntries(format, true), ...format]));
  const alternates = [join(own, 'objects'), control.objects].map((path) => `${toAlternate(path)}\n`);
  await writeFile(join(folder, 'objects', 'info', 'alternates'), alternates.join(''));
  await Promise.all(tips.map((oid, at) => writeFile(join(folder, 'refs', 'tips', String(at)), `${oid}\n`)));
  // An agent that fetched more history has moved the edge.
  if (look(join(own, 'shallow'))?.isFile() === true)
    copyFileSync(join(own, 'shallow'), join(folder, 'shallow'));
}
