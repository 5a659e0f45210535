import { createHash } from 'node:crypto';
import { closeSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { isSealed } from '#domain/record-seal.ts';
import type { PutBackLine } from '#domain/taken-back.ts';
import type { ShownState } from '#domain/taken-in.ts';
import type { ForgeError } from '#kernel/errors.ts';
import type { Writer } from '#store/store.ts';
import type {
  FileLine,
  FileMark,
  FoldHistoryReport,
  FoldReport,
  FoldRequest,
  Replication,
} from '#store/replication.ts';
import { isHeldMark, isUnchanged, statFile, toMark } from './file-changes.ts';
import {
  foldFile,
  NOT_BY_HAND,
  readFoldRequest,
  toTextFold,
  withoutHeld,
  type FileFold,
} from './fold-request.ts';
import type { HeldLines } from './held-lines.ts';
import { digestText, openToRead } from './read-file-lines.ts';
import type { FindSeen } from './seen-in-history.ts';
import { syncSeen } from './sync-placed.ts';
import { HISTORY_PATH, TASKS_PATH, type TaskFiles } from './task-files.ts';
import type { WorkMeter } from './work-meter.ts';

export interface FoldedFiles {
  readonly tasks: FoldReport | undefined;
  readonly history: FoldHistoryReport | undefined;
  /** Lines that were left out, because they are an agent's; left out where there are none. */
  readonly held?: (LeftOut & HeldInFiles) | undefined;
  /** Why the files could not be joined in at the moment; a command that is about something else goes on without. */
  readonly fault?: ForgeError | undefined;
}

/** Of each file; `isTaken` tells of a line whether a target has it. */
export interface HeldInFiles extends Pick<HeldLines, 'isTaken'> {
  readonly tasks: readonly string[];
  readonly history: readonly string[];
}

export interface LeftOut extends Pick<HeldLines, 'key' | 'attempts' | 'over'> {
  readonly lines: readonly FileLine[];
}

/**
 * Joins the files into the store where they changed since it last saw them. Every command begins with this, so that
 * what a merge, a checkout or an editor left there counts, whichever hooks ran. A file that is not there says nothing.
 */
export async function foldFiles(
  store: Replication,
  files: TaskFiles,
  by: Writer & {
    readonly clock: () => number;
    readonly meter?: WorkMeter | undefined;
    /** So long a lock is waited for; as long as the store waits without. */
    readonly lock_ms?: number | undefined;
    readonly findByHand?: FindByHand | undefined;
    /** Left out: the history of what is checked out tells. */
    readonly findSeen?: FindSeen | undefined;
    /** What of the files is not to be joined in; asked only where one has changed. */
    readonly findHeld: () => Promise<HeldLines | undefined>;
  },
): Promise<FoldedFiles> {
  const findSeen: FindSeen =
    by.findSeen ??
    (async (values) => {
      const { findSeenAround } = await import('./seen-in-history.ts');
      return findSeenAround(values, dirname(files.tasks));
    });
  const marks = await store.readMarks([files.tasks, files.history]);
  const markOf = (path: string): FileMark | undefined => marks.find((mark) => mark.path === path);
  let asked: Promise<HeldLines | undefined> | undefined;
  const leave = async (request: FoldRequest, path: string, left: FileLine[]): Promise<FoldRequest> => {
    left.length = 0;
    const held = await (asked ??= by.findHeld());
    return withoutHeld({ ...request, lock_ms: by.lock_ms }, { held, path, left });
  };
  const left: { tasks: FileLine[]; history: FileLine[] } = { tasks: [], history: [] };
  const { clock, meter } = by;
  const history = await foldOne(files.history, markOf(files.history), {
    store,
    clock,
    copies: files.copies,
    key: 'task_id',
    fold: async (request) => store.foldHistory(await leave(request, HISTORY_PATH, left.history), by),
  });
  let request: FoldRequest | undefined;
  const tasks = await foldOne(files.tasks, markOf(files.tasks), {
    store,
    clock,
    meter,
    copies: files.copies,
    key: 'id',
    async fold(read) {
      request = { ...(await leave(read, TASKS_PATH, left.tasks)), answers: true };
      return foldAsking(store, request, { ...by, findSeen });
    },
  });
  const held = await asked;
  const lines = [...left.tasks, ...left.history];
  const more = held === undefined || lines.length === 0 ? {} : { held: { ...held, lines, ...toTexts(left) } };
  if (tasks === undefined || request === undefined) return { tasks, history, ...more };
  const since = markOf(files.tasks)?.looked_at ?? 0;
  const how = { by: { ...by, findSeen }, told: tasks, since };
  return { tasks: await foldPutBack(store, request, how), history, ...more };
}

function toTexts(left: { readonly tasks: FileLine[]; readonly history: FileLine[] }): {
  tasks: string[];
  history: string[];
} {
  const toText = (lines: readonly FileLine[]): string[] => [...new Set(lines.map(({ text }) => text))];
  return { tasks: toText(left.tasks), history: toText(left.history) };
}

/** Which of these lines a person put back, and not git, after `since`. */
export type FindByHand = (lines: readonly PutBackLine[], since: number) => Promise<readonly PutBackLine[]>;

/** The second look at lines that show again what they once showed: now it is known who put them back. */
async function foldPutBack(
  store: Replication,
  request: FoldRequest,
  {
    by,
    told,
    since,
  }: {
    by: Writer & { readonly findByHand?: FindByHand | undefined; readonly findSeen: FindSeen };
    told: FoldReport;
    since: number;
  },
): Promise<FoldReport> {
  const back = told.put_back ?? [];
  if (back.length === 0) return told;
  const found = (await by.findByHand?.(back, since)) ?? [];
  let report = told;
  for (const line of listLeft(found))
    report = joinReports(report, await foldAsking(store, toLeftFold(line, by.now), by));
  const by_hand = new Set(found.map(({ text }) => text));
  const stood = new Map(
    found.flatMap(({ text, stood: [...before] = [] }) => {
      const last = before.at(-1);
      return last === undefined ? [] : [[text, last.shows] as const];
    }),
  );
  // What the first fold left remembered of the file; see FoldRequest.by_hand.
  const mark = { ...request.mark, digest: '', mtime: '0', event_seq: null };
  const second = { ...request, answers: undefined, by_hand, stood, again: true, remembered: { mark } };
  return joinReports(report, await foldAsking(store, second, by));
}

/** Of a file that was read twice: what it brought both times. What could not be read was told the first time. */
function joinReports(first: FoldReport, again: FoldReport): FoldReport {
  const joinLists = <T>(one: readonly T[] = [], other: readonly T[] = []): T[] | undefined =>
    one.length + other.length === 0 ? undefined : [...one, ...other];
  const { kept_identities, gates, ...joined } = { ...first };
  const identities = joinLists(kept_identities, again.kept_identities);
  const changes = joinLists(gates, again.gates);
  return {
    ...joined,
    created: first.created + again.created,
    updated: first.updated + again.updated,
    deleted: first.deleted + again.deleted,
    lost_claims: [...first.lost_claims, ...again.lost_claims],
    conflicts: [...first.conflicts, ...again.conflicts],
    edited_deleted: [...first.edited_deleted, ...again.edited_deleted],
    ...(identities && { kept_identities: [...new Set(identities)] }),
    ...(changes && { gates: changes }),
  };
}

interface LeftLine {
  readonly text: string;
  /** Of a line without stamps: what stood in its place; null where the commit that brought it is not a new one. */
  readonly stood?: ShownState | null | undefined;
}

/** Lines that stand in no file any more, in the order in which commits left them. */
function listLeft(found: readonly PutBackLine[]): LeftLine[] {
  return found.flatMap(({ text, overwritten, stood = [] }) => [
    ...(overwritten === true ? [{ text }] : []),
    ...stood.map((one, at) => ({ text: one.text, stood: stood[at - 1]?.shows ?? null })),
  ]);
}

function toLeftFold({ text, stood }: LeftLine, now: number): FoldRequest {
  // The same edit may be made and taken back again some day: it is never the fold that was.
  const digest = `${now} ${digestText(text)}`;
  const request = toTextFold('git:left', [{ text, number: 1 }], { digest, now });
  // As Forge wrote it, it is what the writer of the later line began with, and did not put back.
  const isBegun = stood !== undefined && isSealed(text);
  return {
    ...request,
    by_hand: isBegun ? NOT_BY_HAND : new Set([text]),
    stood: stood === undefined ? undefined : new Map([[text, stood]]),
  };
}

/**
 * Folds, where a value of this store falls against another only after its history was asked whether that was meant. The
 * question is to git, and no transaction waits for git.
 */
export async function foldAsking(
  store: Replication,
  request: FoldRequest,
  by: Writer & { readonly findSeen: FindSeen },
): Promise<FoldReport> {
  const told = await store.foldTasks({ ...request, asks: true }, by);
  if (told.unsure === undefined) return told;
  return store.foldTasks({ ...request, seen: await by.findSeen(told.unsure) }, by);
}

/** Joins lines of a commit in; `findByHand` asks its history. */
export async function foldText(
  store: Replication,
  request: FoldRequest,
  by: Writer & { readonly findByHand: FindByHand; readonly findSeen: FindSeen },
): Promise<FoldReport> {
  const told = await foldAsking(store, { ...request, by_hand: undefined, answers: true }, by);
  return foldPutBack(store, request, { by, told, since: 0 });
}

/** A file that keeps changing is joined in by a later command. */
const TRIES = 5;

/** Undefined where nothing was to fold. */
async function foldOne<Report extends Pick<FoldReport, 'stale' | 'copy_first'>>(
  path: string,
  first: FileMark | undefined,
  {
    store,
    clock,
    key,
    fold,
    ...file
  }: {
    store: Replication;
    clock: () => number;
    /** Every entry of the file has it. */
    key: string;
    fold: (request: FoldRequest) => Promise<Report>;
  } & Omit<FileFold, 'file'>,
): Promise<Report | undefined> {
  for (let tries = 1, mark = first; ; tries += 1) {
    const stats = statFile(path);
    if (stats === undefined || (isUnchanged(stats, mark) && !isHeldMark(mark))) return undefined;
    // Often only the times differ: git switched away and back, or a tool wrote the same bytes.
    if (mark !== undefined && Number(stats.size) === mark.size) {
      const looked_at = clock();
      const { digest, event_seq } = mark;
      if (digestFile(path) === digest) {
        await store.saveMark({ ...toMark(path, stats, { digest, looked_at }), event_seq });
        return undefined;
      }
    }
    syncSeen(path);
    const request = { ...readFoldRequest(path, { key, clock }), remembered: { mark } };
    const report = await foldFile(request, fold, { ...file, file: path });
    if (report.stale !== true || tries === TRIES) return report;
    [mark] = await store.readMarks([path]);
  }
}

export function digestFile(path: string): string {
  const file = openToRead(path);
  try {
    const hash = createHash('sha256');
    const chunk = Buffer.allocUnsafe(1 << 20);
    for (;;) {
      const count = readSync(file, chunk);
      if (count === 0) return hash.digest('hex');
      hash.update(chunk.subarray(0, count));
    }
  } finally {
    closeSync(file);
  }
}
