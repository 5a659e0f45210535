import { decodeTransition, type TravellingMove } from '#domain/history-line.ts';
import type { Writer } from '../store.ts';
import type { FoldHistoryReport, FoldRequest } from '../sync-store.ts';
import { whyUnreadable } from './fold-lines.ts';
import { UNREADABLE_KEPT } from './fold-records.ts';
import type { FoldStore } from './fold-rows.ts';

/** Adds the moves that are not here yet. The log only grows, so that joining is adding. */
export function foldHistory(store: FoldStore, request: FoldRequest, by: Writer): FoldHistoryReport {
  return store.write(by, (rows) => {
    const report: FoldHistoryReport = { added: 0, unreadable: [] };
    const opened = request.open(rows.readMark(request.path));
    if (opened === undefined) return report;
    const unreadable: (string | Uint8Array)[] = [];
    let more = 0;
    for (const line of opened.lines) {
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
    more += opened.more?.() ?? 0;
    if (more > 0) {
      report.unreadable_more = more;
      if (rows.folder !== undefined) opened.keepWhole?.(rows.folder);
    }
    rows.writeUnreadable(request.path, [...unreadable, ...opened.damaged()]);
    rows.writeMark({ ...opened.mark(), event_seq: null });
    return report;
  });
}
