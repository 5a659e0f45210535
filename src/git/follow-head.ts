import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ForgeError } from '#kernel/errors.ts';
import { askGit, type GitRepo } from './ask-git.ts';
import {
  type FileEntry,
  isSameEntry,
  readIndexEntries,
  readTreeEntries,
  toIndexInfo,
  UPDATE_ENTRIES,
} from './private-index.ts';
import { readRef } from './read-ref.ts';
import { toShownStderr } from './run-git.ts';
import { followOnDisk } from './working-files.ts';

const POLL_MS = 20;
/** Each round more means that somebody else committed during the last. */
const ROUNDS = 50;

type Entries = ReadonlyMap<string, FileEntry>;

/** What became of index and working tree; the commit itself stands in any case. */
export interface Followed {
  /** Paths at which the user has something of their own, staged or in the file, which was left as it is. */
  readonly kept: readonly string[];
  /** Why the rest could not follow. */
  readonly index_failure?: string;
}

/**
 * After HEAD moved without a checkout, index and working tree still have the files of `before`, and `git status`
 * would show the commit taken back. Puts the new ones there where they are untouched, and only at these paths.
 *
 * Others may commit the same paths at the same moment. Whoever of them still finds the files of its own `before`, or
 * what it put there itself, brings them to where HEAD is now, and looks at HEAD again afterwards; the rest leave
 * them alone. So the last to look leaves everything where HEAD is, without a lock that a crash would leave behind.
 */
export async function followHead(
  repo: GitRepo,
  before: Entries,
  paths: readonly string[],
  patience: number,
): Promise<Followed> {
  const untouched = { index: new Map(before), disk: new Map(before) };
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const head = await readRef(repo, 'HEAD');
      const followed = await followOnce(repo, { head, untouched, paths, patience });
      if (followed.index_failure !== undefined || (await readRef(repo, 'HEAD')) === head) return followed;
    }
  } catch (error) {
    return { kept: [], index_failure: (error as Error).message };
  }
  return { kept: [], index_failure: 'HEAD kept moving' };
}

/** What may be replaced; what we put there ourselves is noted in it. */
interface Untouched {
  readonly index: Map<string, FileEntry>;
  readonly disk: Map<string, FileEntry>;
}

async function followOnce(
  repo: GitRepo,
  round: {
    readonly head: string | undefined;
    readonly untouched: Untouched;
    readonly paths: readonly string[];
    readonly patience: number;
  },
): Promise<Followed> {
  const { head, untouched, paths, patience } = round;
  const wanted = await readTreeEntries(repo, head, paths);
  const staged = await readIndexEntries(repo, paths);
  const movable = paths.filter((path) => isSameEntry(staged.get(path), untouched.index.get(path)));
  const changes = new Map(movable.map((path) => [path, wanted.get(path) ?? null]));
  const failure = await updateIndex(repo, toIndexInfo(changes, head), patience);
  if (failure !== undefined) return { kept: [], index_failure: failure };
  for (const path of movable) note(untouched.index, path, wanted.get(path));
  // A file goes with its entry in the index, whoever brought that to where HEAD is.
  const follows = paths.filter(
    (path) => movable.includes(path) || isSameEntry(staged.get(path), wanted.get(path)),
  );
  const edited = await followOnDisk(repo, follows, untouched.disk, wanted);
  for (const path of follows) if (!edited.includes(path)) note(untouched.disk, path, wanted.get(path));
  return { kept: paths.filter((path) => !follows.includes(path) || edited.includes(path)) };
}

function note(entries: Map<string, FileEntry>, path: string, entry: FileEntry | undefined): void {
  if (entry === undefined) entries.delete(path);
  else entries.set(path, entry);
}

/** Undefined when done, else why not. */
async function updateIndex(repo: GitRepo, input: string, patience: number): Promise<string | undefined> {
  if (input === '') return undefined;
  for (let waited = 0; ; waited += POLL_MS) {
    const result = await askGit(repo, UPDATE_ENTRIES, { input });
    if (result.exit === 0) return undefined;
    if (waited >= patience || !/index\.lock/.test(result.stderr)) return toShownStderr(result.stderr);
    await setTimeout(POLL_MS);
  }
}

/** Before anything is changed: another git that holds the index is waited for. */
export async function waitForIndex(repo: GitRepo, patience: number): Promise<void> {
  const lock = join(repo.git_dir, 'index.lock');
  for (let waited = 0; existsSync(lock); waited += POLL_MS) {
    if (waited >= patience) {
      throw new ForgeError('store_busy', `Another git is at work here, or left ${lock} behind`, {
        hint: 'Wait for it, or remove that file',
        details: { lock },
      });
    }
    await setTimeout(POLL_MS);
  }
}
