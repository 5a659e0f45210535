import { getFromGit, type GitRepo } from './ask-git.ts';
import {
  type FileEntry,
  putEntries,
  readTreeEntries,
  toFileMode,
  toIndexInfo,
  withPrivateIndex,
  writeIndexTree,
} from './private-index.ts';
import { writeEmptyTree } from './write-commit.ts';

/**
 * The tree of a merge whose joined files are given. Every other path is taken whole, from the side that changed it;
 * where both did, ours stays, and what one side has removed but the other has changed is kept.
 */
export async function mergeTrees(
  repo: GitRepo,
  merge: {
    /** Undefined for unrelated histories. */
    readonly root: string | undefined;
    readonly ours: string;
    readonly theirs: string;
    readonly stored: ReadonlyMap<string, string | null>;
  },
): Promise<string> {
  const { ours, theirs, stored } = merge;
  const root = merge.root ?? (await writeEmptyTree(repo));
  const modes = await readTreeEntries(repo, ours, [...stored.keys()]);
  return withPrivateIndex(async (more_env) => {
    const read = ['read-tree', '-i', '-m', '--aggressive', root, ours, theirs];
    await getFromGit(repo, read, { more_env });
    const changes = new Map<string, FileEntry | null>(
      toResolved(await getFromGit(repo, ['ls-files', '-z', '--unmerged'], { more_env })),
    );
    for (const [path, oid] of stored) {
      changes.set(path, oid === null ? null : { mode: toFileMode(modes.get(path)), oid });
    }
    // Removed first: a path that is still in conflict keeps its sides beside the entry that is put there.
    const removed = new Map([...changes.keys()].map((path) => [path, null]));
    const kept = new Map([...changes].filter(([, entry]) => entry !== null));
    await putEntries(repo, toIndexInfo(removed, ours) + toIndexInfo(kept, ours), more_env);
    return writeIndexTree(repo, more_env);
  });
}

/** The lines come in the order of their stages: base, ours, theirs. */
function toResolved(unmerged: string): ReadonlyMap<string, FileEntry> {
  const resolved = new Map<string, FileEntry>();
  for (const line of unmerged.split('\0')) {
    const [, mode, oid, stage, path] = /^(\d+) ([0-9a-f]+) ([123])\t([^]+)$/.exec(line) ?? [];
    if (mode === undefined || oid === undefined || path === undefined || stage === '1') continue;
    if (!resolved.has(path)) resolved.set(path, { mode, oid });
  }
  return resolved;
}
