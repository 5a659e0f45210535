import { mkdirSync, statSync, type BigIntStats } from 'node:fs';
import { dirname } from 'node:path';
import { startBlobName, storeBlob } from '#git/store-blob.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Writer } from '#store/store.ts';
import type { ChangedLines, Exported, FileMark, SyncStore } from '#store/sync-store.ts';
import { appendedLines } from './append-lines.ts';
import { isSameFile, isUnchanged, refuseLinkedFolder, statFile, toMark } from './file-changes.ts';
import { toFileError } from './file-error.ts';
import { digestFile, foldFiles, type FoldedFiles } from './fold-files.ts';
import type { HeldLines } from './held-lines.ts';
import { lookAt } from './look-at.ts';
import type { FindSeen } from './seen-in-history.ts';
import { sweepTemporaryFiles } from './sweep-temporary-files.ts';
import { TASKS_PATH, type TaskFiles } from './task-files.ts';
import { METER_LINES, type WorkMeter } from './work-meter.ts';
import { NotAsExported, spliceLines } from './splice-lines.ts';
import { writeLinesBeside, type WriteLine, type WrittenLines } from './write-lines.ts';

/** A file that keeps changing while it is written belongs to somebody who is at work on it. */
const TRIES = 5;

export interface ExportOptions {
  readonly by: Writer & { readonly clock: () => number; readonly findSeen?: FindSeen | undefined };
  /** What of the files is an agent's, and not joined in before they are written. */
  readonly findHeld: () => Promise<HeldLines | undefined>;
  /** False: tasks that changed are added at the end, and older lines of them stay. */
  readonly canonical: boolean;
  /** False: what the files hold was joined in just now, and may be dropped. */
  readonly fold?: boolean;
  /** True: only what the events name is written anew, and the rest of the files copied. */
  readonly incremental?: boolean;
  readonly meter?: WorkMeter | undefined;
  /** For a caller that stages the files: what git has of them by now, and where it keeps its objects. */
  readonly git?: { readonly objects: string; readonly staged: ReadonlyMap<string, string> } | undefined;
}

export interface ExportedFiles {
  readonly tasks: ExportedFile;
  readonly history: ExportedFile;
  readonly folded: FoldedFiles;
}

export interface ExportedFile {
  readonly path: string;
  readonly lines: number;
  /** False: it held the same bytes already. */
  readonly changed: boolean;
  readonly stored?: StoredVersion | undefined;
}

/** A version that was put into git's store of objects already, the one it was made from, and the lines that it adds. */
export interface StoredVersion {
  readonly before: string;
  readonly after: string;
  readonly added: readonly string[];
}

/**
 * Writes everything the store knows to the task files. Never the store over the file: what the file says is joined in
 * first, and looked at again right before it is replaced. An unchanged state gives the very same bytes and no write.
 */
export async function exportFiles(
  store: SyncStore,
  files: TaskFiles,
  options: ExportOptions,
): Promise<ExportedFiles> {
  sweepTemporaryFiles(dirname(files.tasks));
  for (let tries = 1; ; tries += 1) {
    const folded: FoldedFiles =
      options.fold === false
        ? { tasks: undefined, history: undefined }
        : await foldFiles(store, files, { ...options.by, meter: options.meter, findHeld: options.findHeld });
    const marks = await store.readMarks([files.tasks, files.history]);
    const tasks = await exportOne(files.tasks, marks, {
      ...options,
      store,
      lines: (write) => exportWithMeter(store, files.tasks, { write, meter: options.meter }),
      start: '{"id":"',
      changes: (since) => store.readChangedTasks(files.tasks, since),
    });
    const history = await exportOne(files.history, marks, {
      ...options,
      canonical: true,
      store,
      lines: (write) => store.exportHistory(files.history, write),
      start: '{"task":"',
      changes: (since) => store.readChangedHistory(files.history, since),
    });
    if (tasks !== 'changed meanwhile' && history !== 'changed meanwhile') return { tasks, history, folded };
    if (tries === TRIES) throw toFileError(new Error('it keeps changing'), `Could not write ${files.tasks}`);
  }
}

interface ExportSource {
  readonly store: SyncStore;
  readonly lines: (write: WriteLine) => Promise<Exported>;
  readonly start: '{"id":"' | '{"task":"';
  readonly changes: (since: number) => Promise<ChangedLines | undefined>;
}

async function exportOne(
  path: string,
  marks: readonly FileMark[],
  options: ExportOptions & ExportSource,
): Promise<ExportedFile | 'changed meanwhile'> {
  const { store, by, canonical } = options;
  const mark = marks.find((known) => known.path === path);
  const before = statFile(path);
  if (before !== undefined && isUnchanged(before, mark) && mark?.event_seq === (await store.newestEvent())) {
    return { path, lines: 0, changed: false };
  }
  // Only what was joined in may be replaced; a file that came after the fold has not been.
  if (before !== undefined && !isFolded(path, before, mark)) return 'changed meanwhile';
  refuseFolder(path);
  let exported: Exported = { lines: 0, event_seq: 0 };
  const looked_at = by.clock();
  let written: WrittenLines;
  let stored: StoredVersion | undefined;
  try {
    refuseLinkedFolder(dirname(path));
    mkdirSync(dirname(path), { recursive: true });
    const changes =
      before !== undefined && isUnchanged(before, mark) ? await findChanges(mark, options) : undefined;
    if (before !== undefined && mark !== undefined && changes?.lines.size === 0) {
      await store.markExported([{ ...mark, event_seq: changes.event_seq }]);
      return { path, lines: 0, changed: false };
    }
    const spliced = changes === undefined ? undefined : await writeSpliced(path, changes, options);
    if (spliced !== undefined && changes !== undefined) {
      exported = { lines: changes.total, event_seq: changes.event_seq };
    }
    stored = spliced?.stored;
    written =
      spliced?.written ??
      (await writeLinesBeside(path, async (write) => {
        const append = canonical || before === undefined ? undefined : appendedLines(path, write);
        exported = await options.lines(append ?? write);
      }));
  } catch (error) {
    throw toFileError(error, `Could not write ${path}`);
  }
  const now = statFile(path);
  const known =
    before === undefined
      ? now === undefined
      : now !== undefined && isSameFile(now, toMark(path, before, { digest: '', looked_at }));
  if (!known) {
    written.discard();
    return 'changed meanwhile';
  }
  const event_seq = canonical ? exported.event_seq : null;
  if (before !== undefined && mark?.digest === written.digest) {
    written.discard();
    await store.markExported([{ ...toMark(path, before, { digest: written.digest, looked_at }), event_seq }]);
    return { path, lines: exported.lines, changed: false };
  }
  const stats = publish(written, path);
  await store.markExported([
    { ...toMark(path, stats, { digest: written.digest, looked_at: by.clock() }), event_seq },
  ]);
  return { path, lines: exported.lines, changed: true, stored };
}

async function exportWithMeter(
  store: SyncStore,
  path: string,
  { write, meter }: { readonly write: WriteLine; readonly meter: WorkMeter | undefined },
): Promise<Exported> {
  if (meter === undefined) return store.exportTasks(path, write);
  let total = 0;
  let done = 0;
  try {
    return await store.exportTasks(
      path,
      (line) => {
        write(line);
        done += 1;
        if (done % METER_LINES === 0) meter(`Writing ${TASKS_PATH}`, done, total);
      },
      (lines) => void (total = lines),
    );
  } finally {
    meter('', 0, 0);
  }
}

/** Undefined where the whole export has to tell. */
async function findChanges(
  mark: FileMark | undefined,
  { incremental, canonical, changes }: ExportOptions & ExportSource,
): Promise<ChangedLines | undefined> {
  const since = mark?.event_seq ?? undefined;
  return incremental === true && canonical && since !== undefined ? changes(since) : undefined;
}

async function writeSpliced(
  path: string,
  changes: ChangedLines,
  { start, git }: ExportSource & ExportOptions,
): Promise<{ written: WrittenLines; stored: StoredVersion | undefined } | undefined> {
  const staged = git?.staged.get(path);
  const { size } = statSync(path);
  const name = staged === undefined || size < LIMITS.large_file_bytes ? undefined : startBlobName(size);
  let stored: StoredVersion | undefined;
  const store = async (temporary: string): Promise<void> => {
    // Only where git has the very bytes of the last version: then no filter stands between them.
    if (git === undefined || staged === undefined || name?.end() !== staged) return;
    const after = await storeBlob(git.objects, temporary).catch(() => undefined); // then git itself does it
    if (after !== undefined) stored = { before: staged, after, added: [...changes.lines.values()].flat() };
  };
  try {
    const splice = { start, seen: name?.update };
    const written = await writeLinesBeside(
      path,
      async (write) => spliceLines(path, changes, { ...splice, write }),
      store,
    );
    return { written, stored };
  } catch (error) {
    if (error instanceof NotAsExported) return undefined;
    throw error;
  }
}

/** The mark may be of another moment where nobody could write it down; then the bytes tell. */
function isFolded(path: string, stats: BigIntStats, mark: FileMark | undefined): boolean {
  return mark !== undefined && (isSameFile(stats, mark) || digestFile(path) === mark.digest);
}

/** Anything else is replaced; a folder may hold what is somebody's. */
function refuseFolder(path: string): void {
  if (lookAt(path)?.isDirectory() !== true) return;
  throw new ForgeError('io_failed', `${path} is in the way: it is a folder`, {
    hint: 'Move it away, then run the command again',
    details: { path },
  });
}

function publish(written: WrittenLines, path: string): ReturnType<WrittenLines['publish']> {
  try {
    return written.publish();
  } catch (error) {
    throw toFileError(error, `Could not replace ${path}`);
  }
}
