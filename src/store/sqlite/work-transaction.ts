import { toTriggeredBy } from '#domain/actor.ts';
import { ENOUGH_FOUND, pickMeant, type WorkKind } from '#domain/pick-meant.ts';
import { writeMark } from '#domain/process-mark.ts';
import type { WorkEvent } from '#domain/work-event.ts';
import { explainWorkRefusal, type WorkRefusal } from '#domain/work-refusal.ts';
import { toIso } from '#kernel/clock.ts';
import type { ProcessMark } from '../attempt-store.ts';
import type { Database, Row, Value } from './database.ts';
import { insertEvent } from './log-rows.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** One change of attempts and of what belongs to them: rows and event, all or nothing. */
export interface WorkTransaction extends WriteTransaction {
  tell(events: readonly WorkEvent[]): void;
  /** Something of this attempt was changed, so that its record on disk has to be written anew. */
  touch(attemptId: string): void;
}

/** Collects in `touched` whose records the commit leaves behind. */
export function openWork(tx: WriteTransaction, touched: Set<string>): WorkTransaction {
  const { db, by } = tx;
  return {
    ...tx,
    tell(events) {
      const told = { triggered_by: toTriggeredBy(by.actor), created_at: toIso(by.now) };
      for (const event of events) insertEvent(db, { ...event, ...told });
    },
    touch(attemptId) {
      db.run('UPDATE attempts SET revision = revision + 1 WHERE id = ?', attemptId);
      touched.add(attemptId);
    },
  };
}

/** Throws what was decided against; undefined is nothing. */
export function refuse(refusal: WorkRefusal | undefined): void {
  if (refusal !== undefined) throw explainWorkRefusal(refusal);
}

/**
 * By the primary key: a whole id, or any unambiguous beginning of one. Throws not_found and ambiguous_id. An exact id
 * comes first, because it sorts before all that begin with it.
 */
export function getRow(db: Database, table: WorkKind, ref: string): Row {
  const wanted = ref.toLowerCase();
  const sql = `SELECT * FROM ${table} WHERE id >= ? AND id < ? ORDER BY id LIMIT ${ENOUGH_FOUND}`;
  return pickMeant(table, ref, db.all(sql, wanted, `${wanted}\u{10ffff}`));
}

/** The names come from the code, never from outside. */
export function insertRow(
  db: Database,
  table: WorkKind | 'run_messages',
  row: Readonly<Record<string, Value>>,
): void {
  const names = Object.keys(row);
  const marks = names.map(() => '?').join(', ');
  db.run(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`, ...Object.values(row));
}

export function updateRow(
  db: Database,
  table: WorkKind,
  id: string,
  row: Readonly<Record<string, Value>>,
): void {
  const changes = Object.keys(row).map((name) => `${name} = ?`);
  db.run(`UPDATE ${table} SET ${changes.join(', ')} WHERE id = ?`, ...Object.values(row), id);
}

export function toMark(json: unknown): ProcessMark | null {
  return typeof json === 'string' ? (JSON.parse(json) as ProcessMark) : null; // as fromMark wrote it
}

export function fromMark(mark: ProcessMark | null): string | null {
  return mark === null ? null : writeMark(mark);
}

/** Those that apply, with the values that they name. */
export function toWhere(conditions: readonly (readonly [sql: string, ...values: Value[]] | undefined)[]): {
  where: string;
  values: Value[];
} {
  const asked = conditions.filter((one) => one !== undefined);
  return {
    where: asked.length === 0 ? '' : `WHERE ${asked.map(([sql]) => sql).join(' AND ')}`,
    values: asked.flatMap(([, ...values]) => values),
  };
}
