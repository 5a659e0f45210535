import type { FileMark, FoldRequest } from '../replication.ts';
import type { FoldRows } from './fold-rows.ts';

/** Why nothing is to be done with a file as it was read; undefined where it is to be joined in. */
export function findPutOff(
  rows: Pick<FoldRows, 'readMark'>,
  { path, mark, remembered, again = false, dry_run = false }: FoldRequest,
): { stale?: true } | undefined {
  const now = rows.readMark(path);
  if (!again && !dry_run && now?.digest === mark.digest) return {};
  return remembered === undefined || isOfSameVersion(now, remembered.mark) ? undefined : { stale: true };
}

/** When it was looked at, and what of the store it holds, says nothing of the file. */
function isOfSameVersion(one: FileMark | undefined, other: FileMark | undefined): boolean {
  return (['digest', 'size', 'mtime', 'inode'] as const).every((name) => one?.[name] === other?.[name]);
}

/** Leaves the transaction, so that all of it is taken back. */
export class TakenBack<Report> extends Error {
  readonly report: Report;
  constructor(report: Report) {
    super('the fold is taken back');
    this.report = report;
  }
}
