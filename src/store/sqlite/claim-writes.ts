import type { Task } from '#contract/task.ts';
import { changedNames } from '#domain/describe-change.ts';
import { decideClaim } from '#domain/decide-life.ts';
import { claimRecord, moveRecord } from '#domain/task-changes.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { toTask } from '#domain/to-task.ts';
import { claimTarget, DEFAULT_RESOLVED, kindOf, roleOf, type ResolvedWorkflow } from '#domain/workflow.ts';
import { holderName, holdsRole, isArchived, roleHolder } from '#domain/workflow-fields.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { ClaimRequest, ClaimResult, ReadyQuery, TaskStore } from '../store.ts';
import { checkSeenState, checkVersion } from './check-version.ts';
import type { Database } from './database.ts';
import { grantLease, isLeaseOver, releaseExpired } from './lease-rows.ts';
import { findFirstReady, listBlockers, listReady } from './ready-queries.ts';
import type { StoredRecord } from './record-rows.ts';
import { resolveTaskId } from './resolve-id.ts';
import { readFact } from './store-facts.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** The port's writes that decide who owns a task; each runs inside one WriteTransaction. */

export function claimTask(tx: WriteTransaction, claim: ClaimRequest): ClaimResult {
  const { db, by } = tx;
  const workflow = by.workflow ?? DEFAULT_RESOLVED;
  const before = tx.read(resolveTaskId(db, claim.id));
  const { record } = before;
  const task = toTask(record, before.version);
  const gated = before.open_blockers > 0 && !isContextHolder(db, record.id, claim.assignee, workflow);
  const decision = decideClaim(
    record.life,
    {
      ...claim,
      open_blockers: gated ? before.open_blockers : 0,
      expired: isTakenByOther(record, claim) && isLeaseOver(tx, { id: record.id, fence: before.fence }),
    },
    workflow,
  );
  if (decision.outcome === 'mine') {
    checkSeenState(before, claim);
    if (claim.lease_ms !== undefined)
      grantLease(tx, record.id, { fence: before.fence, ttl_ms: claim.lease_ms });
    return { outcome: 'claimed', task, fence: before.fence };
  }
  if (decision.outcome === 'taken') return { outcome: 'taken', task, owner: decision.owner };
  if (decision.outcome === 'closed') return { outcome: 'closed', task };
  if (isArchived(record) && !claim.force) return { outcome: 'archived', task };
  if (by.actor.kind === 'agent' && isPaused(db)) return { outcome: 'project_paused', task };
  if (decision.outcome === 'blocked')
    return { outcome: 'blocked', task, blockers: listBlockers(db, task.id) };
  if (decision.outcome === 'parked') return { outcome: 'parked', task };
  const state = findTarget(workflow, record, claim.assignee);
  const other = claim.force ? undefined : findOtherHolder(workflow, record, { state, name: claim.assignee });
  if (other !== undefined) return { outcome: 'role', task, ...other };
  checkSeenState(before, claim);
  return { outcome: 'claimed', ...saveClaim(tx, before, { ...claim, state }) };
}

export function claimNext(
  tx: WriteTransaction,
  claim: ReadyQuery & { assignee: string; lease_ms?: number | undefined },
): (Task & { fence: number }) | undefined {
  const { db, by } = tx;
  const workflow = by.workflow ?? DEFAULT_RESOLVED;
  if (by.actor.kind === 'agent' && isPaused(db)) throw projectPaused();
  releaseExpired(tx);
  for (const id of listCandidates(db, claim)) {
    const before = tx.read(id);
    const state = findTarget(workflow, before.record, claim.assignee);
    if (findOtherHolder(workflow, before.record, { state, name: claim.assignee }) !== undefined) continue;
    const { task, fence } = saveClaim(tx, before, { ...claim, state, force: false });
    return { ...task, fence };
  }
  return undefined;
}

/** Nearly always it is the first; the others are read only where that one is kept for somebody. */
function* listCandidates(db: Database, query: ReadyQuery): Generator<string> {
  const first = findFirstReady(db, query);
  if (first === undefined) return;
  yield first;
  for (const { id } of listReady(db, { ...query, limit: undefined })) if (id !== first) yield id;
}

export function releaseTask(tx: WriteTransaction, release: Parameters<TaskStore['releaseTask']>[0]): Task {
  const before = tx.read(resolveTaskId(tx.db, release.id));
  const { life, id } = before.record;
  if (life.status !== 'in_progress') {
    throw new ForgeError('state_invalid', `${id} is ${life.status}; only a claimed task can be released`, {
      details: { id, status: life.status },
    });
  }
  checkVersion(before, { fence: release.fence });
  checkSeenState(before, release);
  if (life.assignee !== release.owner && !release.force) {
    throw new ForgeError(
      'claim_conflict',
      `${id} belongs to ${life.assignee ?? 'nobody'}, not to ${release.owner}`,
      { hint: `forge release ${id} --force`, details: { id, assignee: life.assignee } },
    );
  }
  const workflow = tx.by.workflow ?? DEFAULT_RESOLVED;
  const { initial } = workflow;
  if (kindOf(workflow, life.state) === 'gate' && !release.force) {
    throw new ForgeError('state_invalid', `${id} is in ${life.state}; nobody is at work on it`, {
      hint: `forge release ${id} --force`,
      details: { id, state: life.state },
    });
  }
  const after = moveRecord(before.record, { status: 'open', state: initial, assignee: null }, tx.by.now);
  return tx.save(before, after, {
    type: 'task.released',
    changed: ['status', 'state', 'assignee'],
    reason: release.reason,
  }).task;
}

export function pauseProject(tx: WriteTransaction, paused: boolean): { paused_at: string | null } {
  const { db, by } = tx;
  const since = readFact(db, 'paused_at');
  if (paused === since > 0) return { paused_at: readPause(db) };
  tx.keepFact('paused_at', paused ? by.now : 0);
  tx.emitProject({ changed: ['paused_at'], paused_at: readPause(db) });
  return { paused_at: readPause(db) };
}

export function readPause(db: Database): string | null {
  const since = readFact(db, 'paused_at');
  return since === 0 ? null : toIso(since);
}

function projectPaused(): ForgeError {
  return new ForgeError('project_paused', 'The project is paused; people may claim, agents may not', {
    hint: 'forge project resume',
  });
}

function isPaused(db: Database): boolean {
  return readFact(db, 'paused_at') > 0;
}

function isTakenByOther({ life }: TaskRecord, claim: ClaimRequest): boolean {
  return life.status === 'in_progress' && life.assignee !== null && life.assignee !== claim.assignee;
}

/** Whom the role that works in this state was given to, if that is somebody else. */
function findOtherHolder(
  workflow: ResolvedWorkflow,
  record: TaskRecord,
  { state, name }: { state: string; name: string },
): { role: string; holder: string } | undefined {
  const role = roleOf(workflow, state) ?? '';
  const found = roleHolder(record, role);
  const holder = found === undefined ? name : holderName(found);
  return holder === name ? undefined : { role, holder };
}

function findTarget(workflow: ResolvedWorkflow, record: TaskRecord, claimer: string): string {
  return claimTarget(workflow, record.life, (role) => holdsRole(record, role, claimer));
}

/** Whoever did the work that all the open blockers are waiting in gates with may go on before they are through. */
function isContextHolder(db: Database, id: string, claimer: string, workflow: ResolvedWorkflow): boolean {
  const sql = `SELECT b.state, b.assignee FROM dependencies d JOIN tasks b ON b.id = d.to_id
      WHERE d.from_id = ?1 AND d.dep_type = 'blocks' AND b.status <> 'closed'
    UNION ALL SELECT NULL, NULL FROM unresolved_dependencies u
      WHERE u.from_id = ?1 AND u.dep_type = 'blocks' AND u.closed = 0`;
  return db
    .all(sql, id)
    .every(
      ({ state, assignee }) =>
        typeof state === 'string' && kindOf(workflow, state) === 'gate' && assignee === claimer,
    );
}

function saveClaim(
  tx: WriteTransaction,
  before: StoredRecord,
  claim: { assignee: string; force: boolean; state: string; lease_ms?: number | undefined },
): { task: Task; fence: number } {
  const after = claimRecord(before.record, claim.assignee, tx.by.now, claim.state);
  const changed = changedNames(before.record, after);
  const reason = claim.force ? 'forced' : null;
  const saved = tx.save(before, after, { type: 'task.claimed', changed, reason });
  if (claim.lease_ms !== undefined)
    grantLease(tx, before.record.id, { fence: saved.fence, ttl_ms: claim.lease_ms });
  return saved;
}
