import { mkdirSync, type BigIntStats } from 'node:fs';
import { dirname } from 'node:path';
import type { Writer } from '#store/store.ts';
import type { Exported, FileMark, SyncStore } from '#store/sync-store.ts';
import { appendedLines } from './append-lines.ts';
import { isSameFile, isUnchanged, refuseLinkedFolder, statFile, toMark } from './file-changes.ts';
import { toFileError } from './file-error.ts';
import { digestFile, foldFiles, type FoldedFiles } from './fold-files.ts';
import { sweepTemporaryFiles } from './sweep-temporary-files.ts';
import type { TaskFiles } from './task-files.ts';
import { writeLinesBeside, type WrittenLines } from './write-lines.ts';

/** A file that keeps changing while it is written belongs to somebody who is at work on it. */
const TRIES = 5;

export interface ExportOptions {
  readonly by: Writer & { readonly clock: () => number };
  /** False: tasks that changed are added at the end, and older lines of them stay. */
  readonly canonical: boolean;
  /** False: what the files hold was joined in just now, and may be dropped. */
  readonly fold?: boolean;
  readonly meter?: (label: string, done: number, total: number) => void;
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
        : await foldFiles(store, files, options.by);
    const marks = await store.readMarks([files.tasks, files.history]);
    const tasks = await exportOne(files.tasks, marks, {
      ...options,
      store,
      lines: (write) => store.exportTasks(files.tasks, write),
    });
    const history = await exportOne(files.history, marks, {
      ...options,
      canonical: true,
      store,
      lines: (write) => store.exportHistory(files.history, write),
    });
    if (tasks !== 'changed meanwhile' && history !== 'changed meanwhile') return { tasks, history, folded };
    if (tries === TRIES) throw toFileError(new Error('it keeps changing'), `Could not write ${files.tasks}`);
  }
}

type LineSource = (write: (line: string | Uint8Array) => void) => Promise<Exported>;

async function exportOne(
  path: string,
  marks: readonly FileMark[],
  options: ExportOptions & { readonly store: SyncStore; readonly lines: LineSource },
): Promise<ExportedFile | 'changed meanwhile'> {
  const { store, by, canonical } = options;
  const mark = marks.find((known) => known.path === path);
  const before = statFile(path);
  if (before !== undefined && isUnchanged(before, mark) && mark?.event_seq === (await store.newestEvent())) {
    return { path, lines: 0, changed: false };
  }
  // Only what was joined in may be replaced; a file that came after the fold has not been.
  if (before !== undefined && !isFolded(path, before, mark)) return 'changed meanwhile';
  let exported: Exported = { lines: 0, event_seq: 0 };
  const looked_at = by.clock();
  let written: WrittenLines;
  try {
    refuseLinkedFolder(dirname(path));
    mkdirSync(dirname(path), { recursive: true });
    written = await writeLinesBeside(path, async (write) => {
      const append = canonical || before === undefined ? undefined : appendedLines(path, write);
      exported = await options.lines(append ?? write);
    });
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
  return { path, lines: exported.lines, changed: true };
}

/** The mark may be of another moment where nobody could write it down; then the bytes tell. */
function isFolded(path: string, stats: BigIntStats, mark: FileMark | undefined): boolean {
  return mark !== undefined && (isSameFile(stats, mark) || digestFile(path) === mark.digest);
}

function publish(written: WrittenLines, path: string): ReturnType<WrittenLines['publish']> {
  try {
    return written.publish();
  } catch (error) {
    throw toFileError(error, `Could not replace ${path}`);
  }
}
