import { mkdirSync, statSync, type BigIntStats } from 'node:fs';
import { dirname } from 'node:path';
import type { GitRepo } from '#git/ask-git.ts';
import { startBlobName, storeBlob } from '#git/store-blob.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Writer } from '#store/store.ts';
import type { ChangedLines, ExportPart, FileMark, Replication } from '#store/replication.ts';
import { appendedLines } from './append-lines.ts';
import { carryLines, type CarriedLines, NOTHING_CARRIED } from './carry-lines.ts';
import type { CommittedFiles } from './committed-files.ts';
import {
  isSameFile,
  isUnchanged,
  refuseLinkedFolder,
  statFile,
  toMark,
  toPlainDigest,
} from './file-changes.ts';
import { toFileError } from './file-error.ts';
import { foldCommitted } from './fold-committed.ts';
import { digestFile, foldFiles } from './fold-files.ts';
import type { HeldLines } from './held-lines.ts';
import { lookAt } from './look-at.ts';
import { readFileLines } from './read-file-lines.ts';
import type { FindSeen } from './seen-in-history.ts';
import { sweepTemporaryFiles } from './sweep-temporary-files.ts';
import { TASKS_PATH, type TaskFiles } from './task-files.ts';
import type { WorkMeter } from './work-meter.ts';
import { NotAsExported, spliceLines } from './splice-lines.ts';
import { writeLinesBeside, type WriteLine, type WrittenLines } from './write-lines.ts';

/** A file that keeps changing while it is written belongs to somebody who is at work on it. */
const TRIES = 5;

export interface ExportOptions {
  readonly by: Writer & { readonly clock: () => number; readonly findSeen?: FindSeen | undefined };
  readonly source: ExportSource;
  /** False: tasks that changed are added at the end, and older lines of them stay. */
  readonly canonical: boolean;
  /** What an export just now carried: what else the files hold was joined in by it, and may be dropped. */
  readonly joined?: CarriedLines | undefined;
  /** True: only what the events name is written anew, and the rest of the files copied. */
  readonly incremental?: boolean;
  readonly meter?: WorkMeter | undefined;
  /** For a caller that stages the files: what git has of them by now, and where it keeps its objects. */
  readonly git?: { readonly objects: string; readonly staged: ReadonlyMap<string, string> } | undefined;
}

/** What has to be known of the repository before its task files are replaced. */
export interface ExportSource {
  /** What of the files of the working tree, or of a commit, is an agent's: not joined in, and carried as it is. */
  readonly findHeld: (commit?: string) => Promise<HeldLines | undefined>;
  /** Undefined outside of a repository. */
  readonly repo: GitRepo | undefined;
  /** What HEAD has of the files, and what is being merged into it. */
  readonly readCommitted: () => Promise<readonly CommittedFiles[]>;
}

export interface ExportedFiles {
  readonly tasks: ExportedFile;
  readonly history: ExportedFile;
  /** Lines that the store does not have and that stand in the files as they were. */
  readonly carried: CarriedLines;
  /** The commit whose files were joined in; undefined where there is none. */
  readonly head: string | undefined;
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
 * first, and what HEAD says, and looked at again right before it is replaced. Lines that must not be joined in stand in
 * the new file as they were. An unchanged state gives the very same bytes and no write.
 */
export async function exportFiles(
  store: Replication,
  files: TaskFiles,
  options: ExportOptions,
): Promise<ExportedFiles> {
  sweepTemporaryFiles(dirname(files.tasks));
  for (let tries = 1; ; tries += 1) {
    const { carried, head } = await joinFirst(store, files, options);
    const marks = await store.readMarks([files.tasks, files.history]);
    const tasks = await exportOne(files.tasks, marks, {
      ...options,
      store,
      carried: carried.tasks,
      isTaken: (text) => carried.isTaken(TASKS_PATH, text),
      parts: () => withMeter(store.exportTasks(files.tasks), options.meter),
      start: '{"id":"',
      changes: (since) => store.readChangedTasks(files.tasks, since),
    });
    const history = await exportOne(files.history, marks, {
      ...options,
      canonical: true,
      store,
      carried: carried.history,
      isTaken: () => false,
      parts: () => store.exportHistory(files.history),
      start: '{"task":"',
      changes: (since) => store.readChangedHistory(files.history, since),
    });
    if (tasks !== 'changed meanwhile' && history !== 'changed meanwhile') {
      const isNew = tasks.changed || history.changed;
      if (isNew && carried.tasks.length + carried.history.length > 0)
        await rememberCarried(store, files, options);
      return { tasks, history, carried, head };
    }
    if (tries === TRIES) throw toFileError(new Error('it keeps changing'), `Could not write ${files.tasks}`);
  }
}

async function joinFirst(
  store: Replication,
  files: TaskFiles,
  { by, source, meter, joined }: ExportOptions,
): Promise<{ readonly carried: CarriedLines; readonly head: string | undefined }> {
  if (joined !== undefined) return { carried: joined, head: undefined };
  const { repo } = source;
  const commits = repo === undefined ? [] : await source.readCommitted();
  const of_commits =
    repo === undefined
      ? NOTHING_CARRIED
      : (await foldCommitted(store, files, { ...source, repo, commits, by })).carried;
  const { held } = await foldFiles(store, files, { ...by, meter, findHeld: () => source.findHeld() });
  const head = commits.find(({ role }) => role === 'HEAD')?.commit;
  if (held === undefined) return { carried: of_commits, head };
  const tasks = [...held.tasks, ...of_commits.tasks];
  const history = [...held.history, ...of_commits.history];
  return { carried: { tasks, history, isTaken: held.isTaken }, head };
}

/** The store looks at the lines that it does not have, so that a later command knows of them. */
async function rememberCarried(
  store: Replication,
  files: TaskFiles,
  { by, source }: ExportOptions,
): Promise<void> {
  const paths = [files.tasks, files.history];
  const before = await store.readMarks(paths);
  await foldFiles(store, files, { ...by, findHeld: () => source.findHeld() });
  for (const mark of await store.readMarks(paths)) {
    const event_seq = before.find(({ path }) => path === mark.path)?.event_seq ?? null;
    if (event_seq !== null) await store.saveMark({ ...mark, event_seq });
  }
}

interface FileSource {
  readonly store: Replication;
  readonly carried: readonly string[];
  readonly isTaken: (text: string) => boolean;
  readonly parts: () => AsyncIterable<ExportPart>;
  readonly start: '{"id":"' | '{"task":"';
  readonly changes: (since: number) => Promise<ChangedLines | undefined>;
}

async function exportOne(
  path: string,
  marks: readonly FileMark[],
  options: ExportOptions & FileSource,
): Promise<ExportedFile | 'changed meanwhile'> {
  const { store, by, canonical, carried } = options;
  const mark = marks.find((known) => known.path === path);
  const before = statFile(path);
  const isWhole = carried.length === 0 && mark?.event_seq === (await store.newestEvent());
  if (before !== undefined && isUnchanged(before, mark) && isWhole) return { path, lines: 0, changed: false };
  // Only what was joined in may be replaced; a file that came after the fold has not been.
  if (before !== undefined && !isFolded(path, before, mark)) return 'changed meanwhile';
  refuseFolder(path);
  let exported = { lines: 0, event_seq: 0 };
  const looked_at = by.clock();
  let written: WrittenLines;
  let stored: StoredVersion | undefined;
  try {
    refuseLinkedFolder(dirname(path));
    mkdirSync(dirname(path), { recursive: true });
    const canSplice = before !== undefined && isUnchanged(before, mark) && carried.length === 0;
    const changes = canSplice ? await findChanges(mark, options) : undefined;
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
        const isAppended = !canonical && before !== undefined;
        const put = isAppended ? appendedLines(path, write) : write;
        const old = isAppended && carried.length > 0 ? readTexts(path) : NO_TEXTS;
        const { isTaken } = options;
        const all = carryLines(carried, { write: put, isTaken, isWritten: (text) => old.has(text) });
        exported = await writeParts(options.parts(), carried.length === 0 ? put : all.write);
        all.end();
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
  if (before !== undefined && mark !== undefined && toPlainDigest(mark) === written.digest) {
    written.discard();
    await store.markExported([{ ...toMark(path, before, { digest: mark.digest, looked_at }), event_seq }]);
    return { path, lines: exported.lines, changed: false };
  }
  const stats = publish(written, path);
  const { digest } = written;
  const made = { ...toMark(path, stats, { digest, looked_at: by.clock() }), event_seq };
  // What was carried is not the store's: the file is read again, as one that another program wrote.
  await store.markExported([carried.length === 0 ? made : { ...made, mtime: '0', digest: '' }]);
  return { path, lines: exported.lines, changed: true, stored };
}

const NO_TEXTS: ReadonlySet<string> = new Set();

function readTexts(path: string): ReadonlySet<string> {
  return new Set([...readFileLines(path).lines].map(({ text }) => text));
}

async function writeParts(
  parts: AsyncIterable<ExportPart>,
  write: WriteLine,
): Promise<{ readonly lines: number; readonly event_seq: number }> {
  let exported = { lines: 0, event_seq: 0 };
  for await (const { lines, total, event_seq } of parts) {
    for (const line of lines) write(line);
    exported = { lines: total, event_seq };
  }
  return exported;
}

async function* withMeter(
  parts: AsyncIterable<ExportPart>,
  meter: WorkMeter | undefined,
): AsyncGenerator<ExportPart> {
  let done = 0;
  try {
    for await (const part of parts) {
      yield part;
      done += part.lines.length;
      meter?.(`Writing ${TASKS_PATH}`, done, part.total);
    }
  } finally {
    meter?.('', 0, 0);
  }
}

/** Undefined where the whole export has to tell. */
async function findChanges(
  mark: FileMark | undefined,
  { incremental, canonical, changes }: ExportOptions & FileSource,
): Promise<ChangedLines | undefined> {
  const since = mark?.event_seq ?? undefined;
  return incremental === true && canonical && since !== undefined ? changes(since) : undefined;
}

async function writeSpliced(
  path: string,
  changes: ChangedLines,
  { start, git }: FileSource & ExportOptions,
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
  return mark !== undefined && (isSameFile(stats, mark) || digestFile(path) === toPlainDigest(mark));
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
