import { askGit } from '#git/ask-git.ts';
import type { EventStore } from '#store/event-store.ts';
import type { Replication } from '#store/replication.ts';
import { toGitRepo, type Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { toTaskFiles } from './task-files.ts';

/**
 * What to say of the commits that were made here while Forge was out of the hooks and tasks waited; undefined where no
 * commit left any out.
 */
export async function tellLeftOutCommits(
  store: Replication & EventStore,
  paths: ProjectPaths,
  machine: Machine,
): Promise<string | undefined> {
  const [mark] = await store.readMarks([toTaskFiles(paths).tasks]);
  const { events } = await store.readEvents({ after: mark?.event_seq ?? 0, limit: 1 });
  const first = events[0];
  if (first === undefined) return undefined;
  const commits = await listOwnCommits(paths, machine, Math.floor(Date.parse(first.created_at) / 1_000));
  if (commits.length === 0) return undefined;
  const shown = commits.slice(0, SHOWN).join(', ');
  const more = commits.length > SHOWN ? ` and ${commits.length - SHOWN} more` : '';
  const what =
    commits.length === 1 ? 'One commit since then carries' : `${commits.length} commits since then carry`;
  return `${what} no tasks (${shown}${more}); to commit them: forge commit`;
}

const SHOWN = 5;
const LOOKED_AT = '100';

/** Made in this working tree, as its reflog says, and still part of its branch; the newest first. */
async function listOwnCommits(paths: ProjectPaths, machine: Machine, since: number): Promise<string[]> {
  const repo = toGitRepo(paths.root, machine);
  const walk = ['log', '-g', '-n', LOOKED_AT, '--no-show-signature', '--format=%h %ct %gs', 'HEAD', '--'];
  const made = (await askGit(repo, walk)).stdout
    .split('\n')
    .map((line) => /^(\w+) (\d+) commit\b/.exec(line))
    .filter((found) => found !== null && Number(found[2]) >= since)
    .map((found) => found?.[1] ?? '');
  if (made.length === 0) return [];
  const branch = ['log', '-n', LOOKED_AT, '--no-show-signature', '--format=%h', 'HEAD', '--'];
  const kept = new Set((await askGit(repo, branch)).stdout.split('\n'));
  return [...new Set(made)].filter((commit) => kept.has(commit));
}
