import { readFileSync } from 'node:fs';
import { type ForgeError, isForgeError, type ErrorCode } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { countTasks } from '#kernel/text.ts';
import type { FileMark, Replication } from '#store/replication.ts';
import { isHeldMark, isUnchanged, statFile } from './file-changes.ts';
import type { FoldedFiles } from './fold-files.ts';
import type { Environment } from './forge-home.ts';
import type { FoundProject } from './find-project.ts';
import type { AttemptLister } from './held-lines.ts';
import type { WorkMeter } from './work-meter.ts';
import { BRANCH_KEY, TASKS_PATH, toTaskFiles, type TaskFiles } from './task-files.ts';

export interface CatchUpSurroundings {
  readonly clock: () => number;
  readonly notice: (line: string) => void;
  readonly meter?: WorkMeter;
  readonly env: Environment;
  /** Of a command that only reads: it does not wait for others that write. */
  readonly reads?: boolean | undefined;
  /** Forge was at work in this clone before, and its database was not there: it is not a new one. */
  readonly was_lost?: boolean | undefined;
  /**
   * Of a process that serves others: starts another process that joins the files in. It is called for files that are
   * not small; how long a line takes cannot be told from its size.
   */
  readonly joinApart?: (() => Promise<void>) | undefined;
}

/**
 * Joins what changed in the task files since the store last saw them. Every command begins here; with nothing changed
 * it costs two looks at the disk and two at the database, and loads nothing.
 */
export async function catchUpWithFiles(
  store: Replication & AttemptLister,
  { paths, config }: FoundProject,
  tell: CatchUpSurroundings,
): Promise<FoldedFiles> {
  if (config.initMode !== 'branch') return catchUpWithWorkingTree(store, { paths, config }, tell);
  const fromBranch = await catchUpWithBranch(store, { paths, config }, tell);
  // Not exchanged by git there, but it may be one that an export wrote and a person edited.
  const fromFiles = await catchUpWithWorkingTree(store, { paths, config }, tell);
  return fromBranch.tasks === undefined ? fromFiles : fromBranch;
}

async function catchUpWithWorkingTree(
  store: Replication & AttemptLister,
  { paths, config }: FoundProject,
  tell: CatchUpSurroundings,
): Promise<FoldedFiles> {
  const files = toTaskFiles(paths);
  if (config.initMode === 'standard' && statFile(files.tasks) === undefined)
    await guard(tell, () => catchUpWithHead(store, paths, tell));
  const both = [files.tasks, files.history];
  const marks = await store.readMarks(both);
  const changed = both.some((path) => {
    const stats = statFile(path);
    return (
      stats !== undefined &&
      !isUnchanged(
        stats,
        marks.find((mark) => mark.path === path),
      )
    );
  });
  if (!changed && !(await isHeldElsewhere(marks, paths, tell))) return NOTHING;
  if (tell.joinApart !== undefined && !both.every(isSmallFile)) {
    await tell.joinApart();
    return NOTHING;
  }
  const isFirst = marks.length === 0;
  const joined = await guard(tell, () => joinChanges(store, files, { ...tell, paths, isFirst }));
  return 'fault' in joined ? { ...NOTHING, fault: joined.fault } : joined;
}

/** What came of it, or why it cannot be done at the moment. */
async function guard<T>(
  tell: CatchUpSurroundings,
  join: () => Promise<T>,
): Promise<T | { readonly fault: ForgeError }> {
  try {
    return await join();
  } catch (error) {
    // What cannot be joined in now waits for the next command; what was asked for may not need it.
    if (!isForgeError(error) || !PASSING.has(error.code)) throw error;
    tell.notice(
      tell.reads === true && error.code === 'store_busy'
        ? `${TASKS_PATH} is newer than what is shown: another process is writing, so the next command joins it in`
        : `${TASKS_PATH} was not joined in: ${error.message}`,
    );
    return { fault: error };
  }
}

/** A working tree without the file, such as a sparse checkout: what HEAD has of it counts. Asked once for each HEAD. */
async function catchUpWithHead(
  store: Replication & AttemptLister,
  paths: FoundProject['paths'],
  tell: CatchUpSurroundings,
): Promise<void> {
  const [{ readHeadPlace }, { toGitRepo }] = await Promise.all([
    import('./held-lines.ts'),
    import('./machine.ts'),
  ]);
  const place = await readHeadPlace(toGitRepo(paths.root, tell));
  const files = toTaskFiles(paths);
  const path = `import:place:${files.tasks}`;
  const [mark] = await store.readMarks([path]);
  if (mark?.digest === place) return;
  // Its size is not known before git was asked, and it is asked only once for each HEAD.
  if (tell.joinApart !== undefined) return tell.joinApart();
  const { foldHeadFiles } = await import('./fold-head-files.ts');
  const { created } = await foldHeadFiles({ store, paths }, { ...tell, now: tell.clock() });
  if (created > 0) tell.notice(`${countTasks(created)} came in from ${TASKS_PATH} of the last commit`);
  const none = { size: 0, mtime: '0', ctime: '0', inode: '0', event_seq: null };
  await store.saveMark({ path, ...none, digest: place, looked_at: tell.clock() });
}

/** Whether something was held back when HEAD was at another place: here it may be merged. */
async function isHeldElsewhere(
  marks: readonly FileMark[],
  { root }: FoundProject['paths'],
  { env }: CatchUpSurroundings,
): Promise<boolean> {
  const held = marks.filter(isHeldMark);
  if (held.length === 0) return false;
  const [{ readHeadPlace }, { isHeldAt }, { toGitRepo }] = await Promise.all([
    import('./held-lines.ts'),
    import('./file-changes.ts'),
    import('./machine.ts'),
  ]);
  const place = await readHeadPlace(toGitRepo(root, { env }));
  return held.some((mark) => !isHeldAt(mark, place));
}

/** True also for a file that is not there. */
function isSmallFile(path: string): boolean {
  if (Number(statFile(path)?.size ?? 0) > LIMITS.server_fold_bytes) return false;
  try {
    let lines = 0;
    for (const byte of readFileSync(path)) if (byte === NEWLINE) lines += 1;
    return lines <= LIMITS.server_fold_lines;
  } catch {
    return true; // who joins it in says what is wrong
  }
}

const NEWLINE = 0x0a;

const NOTHING: FoldedFiles = { tasks: undefined, history: undefined };
/** A store that cannot be written at the moment. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  'read_only',
  'permission_denied',
  'disk_full',
  'store_busy',
]);

async function joinChanges(
  store: Replication & AttemptLister,
  files: TaskFiles,
  tell: CatchUpSurroundings & Pick<FoundProject, 'paths'> & { readonly isFirst: boolean },
): Promise<FoldedFiles> {
  const { foldFiles } = await import('./fold-files.ts');
  const { describeFold } = await import('./describe-fold.ts');
  const folded = await foldFiles(store, files, {
    actor: { kind: 'system', name: 'fold', named: true },
    now: tell.clock(),
    clock: tell.clock,
    meter: tell.meter,
    // Of a store that knows nothing yet there is nothing to show.
    lock_ms: tell.reads === true && !tell.isFirst ? LIMITS.read_lock_ms : undefined,
    async findHeld() {
      const { heldFinder } = await import('./held-lines.ts');
      return heldFinder({ store, paths: tell.paths }, tell)();
    },
    async findByHand(lines, since) {
      const { findPutBackByHand } = await import('./put-back-by-hand.ts');
      return findPutBackByHand(lines, { ...tell, since });
    },
    async findSeen(values) {
      const { findSeenAround } = await import('./seen-in-history.ts');
      return findSeenAround(values, tell.paths.root, tell.env);
    },
  });
  if (folded.tasks !== undefined || folded.history !== undefined) {
    const { noteHead } = await import('./committed-files.ts');
    await noteHead({ store, paths: tell.paths }, { env: tell.env, now: tell.clock() });
  }
  const isNew = tell.isFirst && folded.tasks !== undefined && folded.tasks.unchanged === 0;
  if (isNew && folded.tasks.created > 0) tell.notice(describeFirst(folded.tasks.created, tell));
  for (const line of describeFold(folded)) tell.notice(line);
  const { tellHeldOnce } = await import('./tell-held.ts');
  await tellHeldOnce(store, folded.held, { now: tell.clock(), tell: tell.notice });
  return folded;
}

function describeFirst(created: number, { was_lost }: CatchUpSurroundings): string {
  const said = `${countTasks(created)} came in from ${TASKS_PATH}`;
  if (was_lost !== true) return said;
  return `The task database was not there and was made anew: ${said}. What that file did not have yet is gone, and so are runs and reviews; the work of attempts is on their branches: git branch --list "forge/*"`;
}

/** A data branch moves only by `forge sync` and `forge commit`, so that only a store without memory has to look. */
async function catchUpWithBranch(
  store: Replication & AttemptLister,
  { paths, config }: FoundProject,
  tell: CatchUpSurroundings,
): Promise<FoldedFiles> {
  const marks = await store.readMarks([BRANCH_KEY]);
  if (marks.length > 0 || config.branchName === undefined) return NOTHING;
  const { readDataBranch } = await import('./branch-mode.ts');
  const here = { env: tell.env, now: tell.clock(), tell: tell.notice };
  const tasks = await readDataBranch(store, { paths, config }, here);
  if (tasks === undefined) return NOTHING;
  if (tasks === 'absent') {
    tell.notice(
      `The branch ${config.branchName}, which holds the tasks, is not in this clone yet. Next: forge sync`,
    );
    return NOTHING;
  }
  if (tasks.created > 0)
    tell.notice(`${countTasks(tasks.created)} came in from the branch ${config.branchName}`);
  const { describeFold } = await import('./describe-fold.ts');
  for (const line of describeFold({ tasks, history: undefined })) tell.notice(line);
  return { tasks, history: undefined };
}
