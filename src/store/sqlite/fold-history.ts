import { dirname } from 'node:path';
import { toIso } from '#kernel/clock.ts';
import type { Writer } from '../store.ts';
import type { FoldHistoryReport, FoldRequest } from '../sync-store.ts';
import type { Database } from './database.ts';
import { readMark, writeMark, writeUnreadable } from './file-marks.ts';
import { whyUnreadable } from './fold-lines.ts';
import { UNREADABLE_KEPT } from './fold-records.ts';
import { decodeTransition, encodeTransition, type TravellingMove } from './history-lines.ts';
import { insertEvent, insertTransition } from './log-rows.ts';
import { appendingTo } from './replica-appender.ts';
import type { Replica } from './replica.ts';

/** Adds the moves that are not here yet. The log only grows, so that joining is adding. */
export function foldHistory(
  store: { db: Database; replica: Replica },
  request: FoldRequest,
  by: Writer,
): FoldHistoryReport {
  const { db } = store;
  return appendingTo(store, by, (appender) => {
    const report: FoldHistoryReport = { added: 0, unreadable: [] };
    const opened = request.open(readMark(db, request.path));
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
      if (!insertTransition(db, move.task_id, move.at, move, null)) continue;
      appender.appendMove(encodeTransition({ ...move, created_at: toIso(move.at) }));
      report.added += 1;
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
    more += opened.more?.() ?? 0;
    if (more > 0) {
      report.unreadable_more = more;
      opened.keepWhole?.(dirname(db.path));
    }
    writeUnreadable(db, request.path, [...unreadable, ...opened.damaged()]);
    writeMark(db, { ...opened.mark(), event_seq: null });
    return report;
  });
}
