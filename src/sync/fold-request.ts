import type { FileLine, FoldReport, FoldRequest } from '#store/replication.ts';
import { toHeldDigest, toMark } from './file-changes.ts';
import type { HeldLines } from './held-lines.ts';
import { keepWholeFile } from './keep-whole-file.ts';
import { readFileLines } from './read-file-lines.ts';
import { siftLines, type SiftedLines } from './sift-lines.ts';
import { TASKS_PATH } from './task-files.ts';
import type { WorkMeter } from './work-meter.ts';

export const NOT_BY_HAND: ReadonlySet<string> = new Set();
/** About what a line takes; only the order of magnitude counts. */
const LINE_BYTES = 500;

/** Lines that are in memory already, such as another revision's; `key` stands for the path of the file. */
export function toTextFold(
  key: string,
  lines: readonly FileLine[],
  { digest, now, dry_run }: { digest: string; dry_run?: boolean; now: number },
): FoldRequest {
  const size = lines.reduce((sum, { text }) => sum + text.length, 0);
  return {
    path: key,
    by_hand: NOT_BY_HAND,
    dry_run,
    lines,
    // By size too, as of a file: a few tasks with many dependencies each are as much to write as many tasks.
    expected: Math.max(lines.length, Math.ceil(size / LINE_BYTES)),
    mark: { path: key, size: 0, mtime: '0', ctime: '0', inode: '0', digest, looked_at: now },
    is_copied: true,
  };
}

interface ReadOptions {
  /** Every entry of the file has it. Left out: its lines are taken as they are. */
  readonly key?: string | undefined;
  readonly clock: () => number;
}

/** A file as it is now. */
export function readFoldRequest(path: string, { key, clock }: ReadOptions): FoldRequest {
  const looked_at = clock();
  const sifted = key === undefined ? undefined : siftLines(path, key);
  const { stats, digest, lines, ...rest } = sifted ?? readWhole(path);
  const expected = sifted === undefined ? Math.ceil(Number(stats.size) / LINE_BYTES) : lines.length;
  return { path, lines, expected, mark: toMark(path, stats, { digest, looked_at }), ...rest };
}

/** Another file than the project's own; `key` stands for its path. It is joined in whatever is remembered of it. */
export function readImport(key: string, path: string, clock: () => number): FoldRequest {
  const { mark, ...request } = readFoldRequest(path, { clock });
  return { ...request, path: key, mark: { ...mark, path: key }, by_hand: NOT_BY_HAND, again: true };
}

function readWhole(path: string): SiftedLines {
  const reader = readFileLines(path);
  const lines = [...reader.lines];
  const { stats, damaged } = reader;
  const [more, is_odd] = [reader.damagedMore(), !reader.isPlain()];
  return { stats, lines, damaged, digest: reader.digest(), more, is_odd };
}

/** The same request without the lines that are held; those are added to `left`. */
export function withoutHeld(
  request: FoldRequest,
  { held, path, left }: { held: HeldLines | undefined; path: string; left: FileLine[] },
): FoldRequest {
  if (held === undefined) return request;
  const lines = request.lines.filter((line) => !held.has(path, line.text));
  if (lines.length === request.lines.length) return request;
  left.push(...request.lines.filter((line) => held.has(path, line.text)));
  const mark = { ...request.mark, digest: toHeldDigest(held, request.mark.digest) };
  return { ...request, lines, mark, is_odd: true };
}

type Foldable = Pick<FoldReport, 'copy_first'>;

/**
 * Folds a file, told to a meter, once more after it was copied aside where lines of it would be written back nowhere.
 * `copies` is the folder of such copies.
 */
export async function foldFile<Report extends Foldable>(
  request: FoldRequest,
  fold: (request: FoldRequest) => Promise<Report>,
  { file, copies, label = `Reading ${TASKS_PATH}`, meter }: FileFold,
): Promise<Report> {
  const total = request.lines.length;
  const progress = (done: number): void => meter?.(label, done, total);
  const metered = meter === undefined ? request : { ...request, progress };
  try {
    const report = await fold(metered);
    if (report.copy_first !== true) return report;
    keepWholeFile(file, copies);
    return await fold({ ...metered, is_copied: true });
  } finally {
    meter?.('', 0, 0);
  }
}

export interface FileFold {
  readonly file: string;
  readonly copies: string;
  readonly label?: string | undefined;
  readonly meter?: WorkMeter | undefined;
}
