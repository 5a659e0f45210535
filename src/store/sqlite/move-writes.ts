import type { Task, Transition } from '#contract/task.ts';
import { decideClose, decideReopen } from '#domain/decide-close.ts';
import { decideMove, listMoveNeeds, type MoveFacts, type MoveNeeds } from '#domain/decide-move.ts';
import { planMapping, type StateMap } from '#domain/map-states.ts';
import { countRejections, grantsBudget } from '#domain/retry-budget.ts';
import { toTask } from '#domain/to-task.ts';
import { findUnfinished } from '#domain/worked-attempts.ts';
import type {
  CloseResult,
  HookResult,
  MappedState,
  MovedTask,
  MoveRequest,
  Standing,
  TaskStore,
} from '../store.ts';
import { listWorked } from './attempt-facts.ts';
import { readClaimFacts } from './claim-facts.ts';
import type { MoveListQuery } from '../task-looks.ts';
import type { Database, Row } from './database.ts';
import { readClosedFrom } from './log-rows.ts';
import { refuseManyMapped } from './neighbour-bounds.ts';
import { listBlockers, listFreed } from './ready-queries.ts';
import { readRecord, type StoredRecord } from './record-rows.ts';
import { resolveTaskId } from './resolve-id.ts';
import { savePlan, toDeciding, toError, toSeen } from './save-plan.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** The port's moves along the workflow; each runs inside one WriteTransaction. */

export function moveTask(tx: WriteTransaction, move: MoveRequest): MovedTask {
  const before = tx.find(move.id);
  const [seen, deciding] = [toSeen(before), toDeciding(tx)];
  const facts = readMoveFacts(tx, before, { move, needs: listMoveNeeds(seen, move, deciding) });
  const decision = decideMove(seen, move, { facts, deciding });
  if (decision.outcome !== 'save') throw toError(tx, before, decision);
  const { state: to_state } = decision.after.life;
  return { ...savePlan(tx, before, decision), from_state: decision.from, to_state };
}

function readMoveFacts(
  tx: WriteTransaction,
  before: StoredRecord,
  { move, needs }: { readonly move: MoveRequest; readonly needs: MoveNeeds },
): MoveFacts {
  const { id } = before.record;
  const { claim_of } = needs;
  const toAsked = (assignee: string) =>
    ({ way: 'move', to: move.to, assignee, agents: move.agents }) as const;
  return {
    unfinished: needs.unfinished ? findUnfinished(listWorked(tx.db, id)) : undefined,
    claim: claim_of === undefined ? undefined : readClaimFacts(tx, before, toAsked(claim_of)),
  };
}

/** Throws nothing for a closed task: closing it again changes nothing. */
export function closeTask(tx: WriteTransaction, close: Parameters<TaskStore['closeTask']>[0]): CloseResult {
  const before = tx.find(close.id);
  const unfinished = findUnfinished(listWorked(tx.db, before.record.id));
  const decision = decideClose(toSeen(before), { ...close, unfinished }, toDeciding(tx));
  const { task } = savePlan(tx, before, decision);
  const isChanged = task.version !== before.version;
  return { ...task, ...(isChanged ? listFreed(tx.db, task.id) : { unblocked: [] }) };
}

export function reopenTask(tx: WriteTransaction, reopen: Parameters<TaskStore['reopenTask']>[0]): Task {
  const before = tx.find(reopen.id);
  const deciding = toDeciding(tx);
  const closed_from = deciding.actor.kind === 'agent' ? readClosedFrom(tx.db, before.record.id) : undefined;
  return savePlan(tx, before, decideReopen(toSeen(before), { ...reopen, closed_from }, deciding)).task;
}

/** Reads all tasks of those states: it happens once in months. */
export function mapStates(tx: WriteTransaction, map: StateMap): MappedState[] {
  if (tx.bounded) refuseManyMapped(tx.db, [...map.keys()]);
  return [...map].map(([from, to]) => {
    const rows = tx.db.all('SELECT id FROM tasks WHERE state = ? ORDER BY id', from);
    for (const { id } of rows) {
      const before = tx.read(id as string);
      savePlan(tx, before, planMapping(before.record, { from, to }, toDeciding(tx)));
    }
    return { from, to, tasks: rows.length };
  });
}

export function recordHookResults(
  db: Database,
  { id, to_state, results }: { id: string; to_state: string; results: readonly HookResult[] },
): void {
  db.run(
    `UPDATE transitions SET hook_results = ?3 WHERE task_id = ?1 AND to_state = ?2 AND created_at =
      (SELECT created_at FROM transitions WHERE task_id = ?1 AND to_state = ?2 ORDER BY created_at DESC LIMIT 1)`,
    id,
    to_state,
    JSON.stringify(results),
  );
}

export function readStanding(db: Database, ref: string): Standing {
  const id = resolveTaskId(db, ref);
  const stored = readRecord(db, id);
  if (stored === undefined) throw new Error(`task ${id} vanished inside its own transaction`);
  return {
    task: toTask(stored.record, stored.version, db.workflow),
    fence: stored.fence,
    blockers: stored.open_blockers > 0 ? listBlockers(db, id) : [],
    rejections: readRejections(db, id),
  };
}

/** Walks the moves of the one task by the primary key; read are those since the last grant, the newest of very many. */
function readRejections(db: Database, id: string): ReadonlyMap<string, number> {
  const any = 'SELECT 1 AS found FROM transitions WHERE task_id = ? AND rejection = 1 LIMIT 1';
  if (db.get(any, id) === undefined) return new Map();
  const granted = findGrant(db, { id, blocked: db.workflow.blocked })?.created_at ?? '';
  const sql = `SELECT * FROM transitions WHERE task_id = ? AND rejection = 1 AND created_at >= ?
    ORDER BY created_at DESC LIMIT ?`;
  return countRejections(db.all(sql, id, granted, MOST_REJECTIONS).map(toTransition));
}

/** No budget of a gate is larger than a hundredth of it. */
const MOST_REJECTIONS = 5_000;

/** What fits the conditions is a grant or nearly one: the first that is ends the walk by the primary key. */
export function findGrant(
  db: Database,
  { id, blocked }: { readonly id: string; readonly blocked: string | undefined },
): Transition | undefined {
  const sql = `SELECT * FROM transitions WHERE task_id = ?1 AND triggered_by GLOB 'user:*' AND to_status <> 'closed'
    AND (from_status = 'closed' OR (from_state = ?2 AND to_state <> ?2)) ORDER BY created_at DESC`;
  for (const row of db.each(sql, id, blocked ?? null)) {
    const move = toTransition(row);
    if (grantsBudget({ blocked }, move)) return move;
  }
  return undefined;
}

export function listTransitions(db: Database, query: MoveListQuery): Transition[] {
  const id = resolveTaskId(db, query.id);
  const condition = query.changes_state === true ? 'AND from_state <> to_state' : '';
  const newest = `SELECT * FROM transitions WHERE task_id = ? ${condition} ORDER BY created_at DESC LIMIT ?`;
  return db
    .all(newest, id, query.limit ?? -1)
    .reverse()
    .map(toTransition);
}

export function toTransition(row: Row): Transition {
  return {
    from_state: row.from_state as string,
    to_state: row.to_state as string,
    from_status: row.from_status as Transition['from_status'],
    to_status: row.to_status as Transition['to_status'],
    trigger_reason: row.reason as string | null,
    triggered_by: row.triggered_by as string,
    rejection: row.rejection === 1,
    created_at: row.created_at as string,
    hook_results:
      row.hook_results === null
        ? null
        : (JSON.parse(row.hook_results as string) as Transition['hook_results']), // written above
  };
}
