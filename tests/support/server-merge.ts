import type { Clone } from './git-clones.ts';

/** What a server without Forge, and a person who settles its conflicts, do with a branch. */
export const MERGES = ['merge', 'rebase', 'squash'] as const;
export const SIDES = ['both lines', 'the later line', 'the earlier line'] as const;
export type ServerMerge = (typeof MERGES)[number];

export const TASK_FILES = ['.forge/tasks.jsonl', '.forge/history.jsonl'];

export function settle(clone: Clone, side: (typeof SIDES)[number], by: ServerMerge): void {
  // In a rebase "theirs" is the commit that is put on top, as in a merge it is the branch that comes.
  if (side !== 'both lines')
    clone.git('checkout', '--quiet', side === 'the later line' ? '--theirs' : '--ours', '--', ...TASK_FILES);
  for (const file of TASK_FILES)
    clone.write(file, clone.read(file).replaceAll(/^(?:<{7}|={7}|>{7}).*\n/gm, ''));
  clone.git('add', '--all');
  if (by === 'rebase') clone.tryGit(['-c', 'core.editor=true', 'rebase', '--continue']);
  else clone.git('commit', '--quiet', '--allow-empty', '--message', 'settled');
}

/** False where a conflict has to be settled. */
export function mergeThere(server: Clone, branch: string, by: ServerMerge): boolean {
  server.git('fetch', '--quiet');
  if (by === 'merge')
    return server.tryGit(['merge', '--quiet', '--no-ff', '--no-edit', `origin/${branch}`]).exit === 0;
  if (by === 'squash') {
    if (server.tryGit(['merge', '--squash', `origin/${branch}`]).exit !== 0) return false;
    server.git('commit', '--quiet', '--message', branch);
    return true;
  }
  server.git('switch', '--quiet', '--create', branch, `origin/${branch}`);
  const done = server.tryGit(['rebase', '--quiet', 'main']).exit === 0;
  return done;
}

export function endRebase(server: Clone, branch: string): void {
  server.git('switch', '--quiet', 'main');
  server.git('merge', '--quiet', '--ff-only', branch);
}
