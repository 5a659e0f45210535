import { toIso } from '#kernel/clock.ts';
import type { Writer } from '../store.ts';
import type { FoldHistoryReport, FoldRequest } from '../sync-store.ts';
import type { Database } from './database.ts';
import { readMark, writeMark, writeUnreadable } from './file-marks.ts';
import { whyUnreadable } from './fold-lines.ts';
import { decodeTransition, type TravellingMove } from './history-lines.ts';
import { insertEvent, insertTransition } from './log-rows.ts';

/** Adds the moves that are not here yet. The log only grows, so that joining is adding. */
export function foldHistory(db: Database, request: FoldRequest, by: Writer): FoldHistoryReport {
  return db.write(() => {
    const report: FoldHistoryReport = { added: 0, unreadable: [] };
    const opened = request.open(readMark(db, request.path));
    if (opened === undefined) return report;
    const unreadable: (string | Uint8Array)[] = [];
    for (const line of opened.lines) {
      let move: TravellingMove;
      try {
        move = decodeTransition(line.text);
      } catch (error) {
        report.unreadable.push({ number: line.number, why: whyUnreadable(error) });
        unreadable.push(line.text);
        continue;
      }
      if (insertTransition(db, move.task_id, move.at, move, null)) report.added += 1;
    }
    if (report.added > 0) {
      insertEvent(db, {
        type: 'project.changed',
        task_id: null,
        triggered_by: 'system:fold',
        created_at: toIso(by.now),
        data: { changed: ['history'], added: report.added },
      });
    }
    writeUnreadable(db, request.path, [...unreadable, ...opened.damaged()]);
    writeMark(db, { ...opened.mark(), event_seq: null });
    return report;
  });
}
