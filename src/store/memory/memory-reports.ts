import type { TaskType } from '#contract/task.ts';
import { isReady } from '#domain/readiness.ts';
import { summariseEvent, type EventData } from '#domain/summarise-event.ts';
import { toIso } from '#kernel/clock.ts';
import { compareCodePoints, compareText, utf8Length } from '#kernel/text.ts';
import type { StoredEvent } from '../event-store.ts';
import { LATELY_MS, type HistoryEntry, type StoreStats } from '../report.ts';
import type { HistoryQuery, NumberedEntry, TaskLooks } from '../task-looks.ts';
import { listEvents } from './memory-events.ts';
import { findTask } from './memory-ids.ts';
import { listMoves } from './memory-moves.ts';
import { readReadiness, showTask } from './memory-rows.ts';
import type { MemoryTables } from './memory-tables.ts';

/** Moves that were made elsewhere have no event here; they stand among the others by their time. */
export function readHistory(tables: MemoryTables, query: HistoryQuery): HistoryEntry[] {
  const { id } = findTask(tables, query.id);
  const { limit, max_bytes = Infinity } = query;
  const told = listEntryEvents(tables, id).map((event) => ({
    entry: toEntry(tables, event),
    bytes: utf8Length(event.data),
  }));
  const elsewhere = listMoves(tables, id).flatMap((move) => {
    if (move.event_seq !== null) return [];
    const { created_at, triggered_by, from_state, to_state, trigger_reason: reason } = move;
    const type = 'task.status_changed';
    const summary = summariseEvent({ type, reason, data: {} });
    const entry = { seq: null, type, at: created_at, triggered_by, summary, changed: [] };
    return [{ entry: { ...entry, from_state, to_state, reason }, bytes: 0 }];
  });
  const newest = [...told, ...elsewhere]
    .sort((a, b) => compareText(b.entry.at, a.entry.at) || (b.entry.seq ?? 0) - (a.entry.seq ?? 0))
    .slice(0, limit);
  let sum = 0;
  const over = newest.findIndex(({ bytes }, at) => (sum += bytes) > max_bytes && at > 0);
  return newest
    .slice(0, over === -1 ? undefined : over)
    .map(({ entry }) => entry)
    .reverse();
}

/** An event that says once more, beside another one, that the status changed, is no entry. */
function listEntryEvents(tables: MemoryTables, id: string): StoredEvent[] {
  return listEvents(tables).filter(
    ({ type, task_id, data }) =>
      task_id === id &&
      (type !== 'task.status_changed' || (JSON.parse(data) as { beside?: string }).beside === undefined),
  );
}

function toEntry(tables: MemoryTables, event: StoredEvent): NumberedEntry {
  const { seq, type, task_id, triggered_by, created_at: at } = event;
  const move = listMoves(tables, task_id ?? '').find(({ event_seq }) => event_seq === seq);
  const reason = move?.trigger_reason ?? null;
  const data = JSON.parse(event.data) as EventData; // as it was told
  return {
    seq,
    type,
    at,
    triggered_by,
    summary: summariseEvent({ type, reason, data }),
    changed: [...(data.changed ?? [])],
    from_state: move?.from_state ?? null,
    to_state: move?.to_state ?? null,
    reason,
  };
}

export function hasNewsOf(tables: MemoryTables, id: string, after: number): boolean {
  return tables.events.list().some(({ seq, task_id }) => seq > after && (task_id === id || task_id === null));
}

export function newestEntryOf(tables: MemoryTables, id: string): number {
  return listEntryEvents(tables, id).at(-1)?.seq ?? 0;
}

export function findEntry(
  tables: MemoryTables,
  { id, type, after }: Parameters<TaskLooks['findEntry']>[0],
): NumberedEntry | undefined {
  const found = listEntryEvents(tables, id).find(
    (event) => event.seq > after && (type === undefined || event.type === type),
  );
  return found && toEntry(tables, found);
}

export function readStats(
  tables: MemoryTables,
  query: { now: number; exclude_types: readonly TaskType[] },
): StoreStats {
  const rows = tables.tasks.list();
  const tasks = rows.map((row) => ({ ...showTask(tables, row), ...readReadiness(tables, row) }));
  const open = tasks.filter(({ status }) => status === 'open');
  const since = toIso(query.now - LATELY_MS);
  return {
    total: tasks.length,
    by_status: countBy(tasks, ({ status }) => status),
    by_state: countBy(tasks, ({ state }) => state),
    by_type: countBy(tasks, ({ type }) => type),
    by_priority: countBy(tasks, ({ priority }) => String(priority)),
    ready: tasks.filter((task) => isReady(task) && !query.exclude_types.includes(task.type)).length,
    blocked: open.filter(({ open_blockers }) => open_blockers > 0).length,
    parked: open.filter(({ parked }) => parked).length,
    assigned: countOwners(tasks),
    closed_last_7_days: tasks.filter(
      ({ status, closed_at }) => status === 'closed' && (closed_at ?? '') >= since,
    ).length,
    deleted: tables.deleted.size,
  };
}

function countBy<T>(rows: readonly T[], nameOf: (row: T) => string): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(rows, nameOf)].map(([name, group]) => [name, group.length]));
}

/** Who is at work on most comes first. */
function countOwners(
  tasks: readonly { readonly assignee: string | null; readonly status: string }[],
): StoreStats['assigned'] {
  const owned = tasks.filter(({ status, assignee }) => assignee !== null && status !== 'closed');
  return [...Map.groupBy(owned, ({ assignee }) => assignee ?? '')]
    .map(([assignee, of]) => {
      const in_progress = of.filter(({ status }) => status === 'in_progress').length;
      return { assignee, in_progress, open: of.length - in_progress };
    })
    .sort(
      (a, b) => b.in_progress - a.in_progress || b.open - a.open || compareCodePoints(a.assignee, b.assignee),
    );
}
