import { statSync } from 'node:fs';
import { join } from 'node:path';
import { askGit, getFromGit, type GitRepo } from './ask-git.ts';
import { runGit } from './run-git.ts';
import { toLoosePath } from './store-blob.ts';

/** What these objects take on the disk while each lies in a file of its own. */
export function countLooseBytes(
  { common_dir }: Pick<GitRepo, 'common_dir'>,
  oids: readonly string[],
): number {
  const sizes = oids.map((oid) => statSync(toLoosePath(join(common_dir, 'objects'), oid), QUIET)?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}

const QUIET = { throwIfNoEntry: false } as const;

/**
 * Puts versions of one file into a pack, where each but the first takes as much as it changes, and removes the files
 * that git then has twice. Does nothing where the person has told git to leave the store of objects alone.
 */
export async function packBlobs(repo: GitRepo, oids: readonly string[]): Promise<'packed' | 'left'> {
  const objects = join(repo.common_dir, 'objects');
  const loose = oids.filter((oid) => statSync(toLoosePath(objects, oid), QUIET) !== undefined);
  if (loose.length < 2 || !(await mayPack(repo))) return 'left';
  // Each is held against the one before alone: against ten, as by default, it takes five times as long and 700 MB.
  const frugal = ['--quiet', '--window=1', '--threads=1'];
  await getFromGit(repo, ['pack-objects', ...frugal, join(objects, 'pack', 'pack')], {
    input: `${loose.join('\n')}\n`,
  });
  await askGit(repo, ['prune-packed', '--quiet']);
  return 'packed';
}

/** By the settings of the person and the repository, not those that Forge adds to its own calls of git. */
async function mayPack({ worktree, env }: GitRepo): Promise<boolean> {
  const options = { cwd: worktree, ...(env && { env }) };
  const [count, maintenance] = await Promise.all([
    runGit(['config', '--get', '--type=int', 'gc.auto'], options),
    runGit(['config', '--get', '--type=bool', 'maintenance.auto'], options),
  ]);
  return count.stdout.trim() !== '0' && maintenance.stdout.trim() !== 'false';
}
