import { decodeTransition, type TravellingMove } from '#domain/history-line.ts';
import type { Writer } from '../store.ts';
import type { FoldHistoryReport, FoldRequest } from '../replication.ts';
import { whyUnreadable } from './fold-lines.ts';
import { UNREADABLE_KEPT } from './fold-records.ts';
import type { FoldRows, FoldStore } from './fold-rows.ts';
import { findPutOff, TakenBack } from './fold-start.ts';

/** Adds the moves that are not here yet. The log only grows, so that joining is adding. */
export function foldHistory(store: FoldStore, request: FoldRequest, by: Writer): FoldHistoryReport {
  const fold = (rows: FoldRows): FoldHistoryReport => {
    const report: FoldHistoryReport = { added: 0, unreadable: [] };
    const other = findPutOff(rows, request);
    if (other !== undefined) return { ...report, ...other };
    const unreadable: (string | Uint8Array)[] = [];
    let more = 0;
    for (const line of request.lines) {
      let move: TravellingMove;
      try {
        move = decodeTransition(line.text);
      } catch (error) {
        const why = whyUnreadable(error);
        if (unreadable.length < UNREADABLE_KEPT) {
          report.unreadable.push({ number: line.number, why });
          unreadable.push(line.text);
        } else more += 1;
        continue;
      }
      if (rows.addMove(move)) report.added += 1;
    }
    if (report.added > 0) rows.tellProject({ changed: ['history'], added: report.added });
    more += request.more ?? 0;
    if (more > 0) {
      report.unreadable_more = more;
      if (request.is_copied !== true) throw new TakenBack<FoldHistoryReport>({ ...report, copy_first: true });
    }
    rows.writeUnreadable(request.path, [...unreadable, ...(request.damaged ?? [])]);
    rows.writeMark({ ...request.mark, event_seq: null });
    return report;
  };
  try {
    return store.write(by, fold);
  } catch (error) {
    if (error instanceof TakenBack) return error.report as FoldHistoryReport;
    throw error;
  }
}
