import type { Attempt } from '#contract/attempt.ts';
import { decideKeptWorktrees, type KeptWorktreeFacts } from '#domain/decide-kept-worktrees.ts';
import type { ControlGit } from '#git/control-directory.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { isSameProcess } from '#process/process-identity.ts';
import { listOwnCheckouts } from '#sync/own-checkouts.ts';
import { isThere } from './is-there.ts';
import { changeFolderNote, readFolderNote } from './folder-note.ts';
import { measureFolder } from './measure-folder.ts';
import type { WorkPlace } from './work.ts';

const GIGABYTE = 1_000_000_000;

/**
 * Called before a folder is made. Where the worktrees take more of the disk than they may, those that nobody needs any
 * more go first, the oldest before the others; what they hold goes to rescue refs. Throws disk_full where that is not
 * enough.
 */
export async function requireRoom(place: WorkPlace, control: ControlGit): Promise<void> {
  const { used, limit } = await makeRoom(place, control);
  if (used < limit) return;
  throw new ForgeError(
    'disk_full',
    `The worktrees of ${place.project.name} take ${toGigabytes(used)} GB, and workspace.disk_limit_gb allows ${toGigabytes(limit)}`,
    {
      hint: 'forge workspace list, then forge workspace clean <attempt>',
      details: { used_bytes: used, limit_bytes: limit },
    },
  );
}

/**
 * Removes worktrees of attempts that are over, the oldest first, where there are too many of them or all worktrees take
 * too much. Gives what they take afterwards, and which went.
 */
export async function makeRoom(
  place: WorkPlace,
  control: ControlGit,
  isAtWork: (taskId: string) => boolean = () => false,
): Promise<{ readonly used: number; readonly limit: number; readonly removed: readonly Attempt[] }> {
  const { disk_limit_gb, finished_limit } = place.settings().workspace;
  const limit = disk_limit_gb * GIGABYTE;
  const { folders, ...measured } = await measureUse(place, control);
  let { used } = measured;
  const removed: Attempt[] = [];
  const { free, too_many } = await findRemovable(place, folders, { number: finished_limit, isAtWork });
  for (const { attempt, bytes } of free) {
    if (used < limit && removed.length >= too_many) break;
    if (!(await removeForRoom(place, attempt))) continue;
    used -= bytes;
    removed.push(attempt);
  }
  return { used, limit, removed };
}

/** The same for whoever only wants to know: the same words as long as nothing has changed about it. */
export async function findFullDisk(place: WorkPlace, control: ControlGit): Promise<string | undefined> {
  try {
    await requireRoom(place, control);
    return undefined;
  } catch (error) {
    if (!isForgeError(error) || error.code !== 'disk_full') throw error;
    const limit = toGigabytes(place.settings().workspace.disk_limit_gb * GIGABYTE);
    return `The worktrees take the ${limit} GB of workspace.disk_limit_gb: nothing more is started; see forge workspace list`;
  }
}

interface Folder {
  readonly attempt: Attempt | undefined;
  readonly bytes: number;
}

async function measureUse(
  place: WorkPlace,
  control: ControlGit,
): Promise<{ used: number; folders: readonly Folder[] }> {
  const attempts = await place.store.listAttempts({ there: true });
  const own = listOwnCheckouts(control).map(({ checkout }) => checkout);
  const all = [
    ...attempts.map((attempt) => ({ id: attempt.id, path: attempt.path, attempt })),
    ...own.map(({ attempt_id, path }) => ({ id: attempt_id, path, attempt: undefined })),
  ].map((one) => ({ ...one, known: readFolderNote(place, one.id).size }));
  // Those that were looked at longest ago come first, so that in the end each has its turn.
  const folders: Folder[] = [];
  const until = performance.now() + LIMITS.disk_look_ms;
  for (const one of all.toSorted((a, b) => (a.known?.at ?? 0) - (b.known?.at ?? 0)))
    folders.push({ attempt: one.attempt, bytes: await sizeOf(place, one, until) });
  return { used: folders.reduce((sum, { bytes }) => sum + bytes, 0), folders };
}

interface Measured {
  readonly id: string;
  readonly path: string;
  readonly known: { readonly bytes: number; readonly at: number } | null;
}

/** What was said of it not long ago stands; and whatever is known, where there is no time to look again. */
async function sizeOf(place: WorkPlace, { id, path, known }: Measured, until: number): Promise<number> {
  const now = place.clock.now();
  if (known !== null && now - known.at < LIMITS.folder_size_ms) return known.bytes;
  if (known !== null && performance.now() > until) return known.bytes;
  const bytes = await measureFolder(path, { until });
  const size = { bytes: Math.max(bytes, performance.now() > until ? (known?.bytes ?? 0) : 0), at: now };
  changeFolderNote(place, id, { size });
  return size.bytes;
}

/** Those of attempts that are over, unless a person or an agent is at work on their task. */
async function findRemovable(
  place: WorkPlace,
  folders: readonly Folder[],
  { number, isAtWork }: { readonly number: number; readonly isAtWork: (taskId: string) => boolean },
): Promise<ReturnType<typeof decideKeptWorktrees<KeptWorktreeFacts & { attempt: Attempt; bytes: number }>>> {
  const busy = await findBusyTasks(place);
  const known = folders.flatMap(({ attempt, bytes }) => {
    if (attempt === undefined) return [];
    const { id, state, task_id, finished_at, created_at } = attempt;
    const over_at = finished_at ?? created_at;
    return [{ id, state, busy: busy.has(task_id) || isAtWork(task_id), over_at, attempt, bytes }];
  });
  return decideKeptWorktrees(known, { number });
}

async function findBusyTasks({ store, watcher }: WorkPlace): Promise<Set<string>> {
  const [open, watches] = await Promise.all([store.listRuns({ open: true }), store.listWatchedTasks()]);
  const busy = new Set(open.map(({ task_id }) => task_id));
  for (const one of watches)
    if (!isSameProcess(one.watcher, watcher) && (await isThere(store, one.watcher))) busy.add(one.task_id);
  return busy;
}

async function removeForRoom(place: WorkPlace, attempt: Attempt): Promise<boolean> {
  const { removeWorkspace } = await import('./retire-attempts.ts');
  const tell = (text: string): void => place.watch({ kind: 'note', task_id: attempt.task_id, text });
  try {
    await removeWorkspace(place, attempt);
    tell(`${attempt.path} was removed to make room`);
    return true;
  } catch (error) {
    if (!isForgeError(error)) throw error;
    tell(error.message);
    return false;
  }
}

function toGigabytes(bytes: number): string {
  const gigabytes = bytes / GIGABYTE;
  return gigabytes < 1 ? gigabytes.toPrecision(2) : gigabytes.toFixed(1).replace(/\.0$/, '');
}
