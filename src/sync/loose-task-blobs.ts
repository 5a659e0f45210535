import { appendFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readPlainFile } from '#git/read-plain-file.ts';
import type { GitRepo } from '#git/ask-git.ts';
import { gitEnvironment } from '#git/git-environment.ts';
import { countLooseBytes, packBlobs } from '#git/pack-blobs.ts';
import { readTreeEntries } from '#git/private-index.ts';
import { LIMITS } from '#kernel/limits.ts';
import { startAside } from '#process/start-aside.ts';
import type { Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { HISTORY_PATH, TASKS_PATH, toTaskFiles } from './task-files.ts';

/**
 * Every commit puts the whole task file into git's store of objects, compressed and in a file of its own. git packs
 * such files when there are thousands, however large they are: at 50,000 tasks after some five gigabytes. So the large
 * ones are counted here, and packed when they have come to `loose_blob_bytes`.
 */
export function areTaskFilesLarge(paths: ProjectPaths): boolean {
  const { tasks, history } = toTaskFiles(paths);
  return [tasks, history].some(
    (file) => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) >= LIMITS.large_file_bytes,
  );
}

/** Remembers versions of the task files that were put into git, and starts a process that packs them where they are many. */
export function noteTaskBlobs(
  {
    paths,
    repo,
    machine,
  }: { readonly paths: ProjectPaths; readonly repo: GitRepo; readonly machine: Machine },
  oids: readonly string[],
): void {
  try {
    const large = oids.filter((oid) => countLooseBytes(repo, [oid]) >= SMALLEST_BYTES);
    if (large.length === 0) return;
    const list = toList(paths);
    const before = readList(list);
    const added = large.filter((oid) => !before.includes(oid));
    if (added.length > 0) appendFileSync(list, added.map((oid) => `${oid}\n`).join(''));
    const noted = [...before, ...added];
    if (noted.length >= FEWEST && countLooseBytes(repo, noted) >= LIMITS.loose_blob_bytes)
      startPacking(paths, machine);
  } catch {
    // A commit does not fail because of what only saves space.
  }
}

/** The same for a commit that Forge made by itself. */
export async function noteCommittedBlobs(
  place: { readonly paths: ProjectPaths; readonly repo: GitRepo; readonly machine: Machine },
  commit: string | null | undefined,
): Promise<void> {
  if (typeof commit !== 'string') return;
  const entries = await readTreeEntries(place.repo, commit, [TASKS_PATH, HISTORY_PATH]);
  noteTaskBlobs(
    place,
    [...entries.values()].map(({ oid }) => oid),
  );
}

/** What the process does that was started for it. */
export async function packTaskBlobs(paths: ProjectPaths, repo: GitRepo): Promise<void> {
  // Taken by one process alone; what comes meanwhile is counted anew.
  const taken = `${toList(paths)}.${process.pid}`;
  try {
    renameSync(toList(paths), taken);
  } catch {
    return; // another one has it
  }
  try {
    await packBlobs(repo, readList(taken));
  } finally {
    rmSync(taken, { force: true });
  }
}

/** Fewer are not worth a pack. */
const FEWEST = 4;
/** Smaller ones are left to git; so the list stays short too. */
const SMALLEST_BYTES = LIMITS.loose_blob_bytes / 512;

function toList({ store_dir }: ProjectPaths): string {
  return join(store_dir, 'loose-blobs');
}

function readList(path: string): string[] {
  const text = readPlainFile(path)?.toString('utf8') ?? '';
  return [...new Set(text.split('\n'))].filter((oid) => /^[0-9a-f]{40,64}$/.test(oid));
}

/** Beside the commit, which does not wait for it; git does the same with `git gc --auto`. */
function startPacking({ root }: ProjectPaths, { program, env }: Machine): void {
  const { node, script } = program;
  startAside(node, [script, 'hook', 'pack-blobs'], { cwd: root, env: gitEnvironment(env) });
}
