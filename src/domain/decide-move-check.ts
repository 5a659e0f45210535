import { toTriggeredBy } from './actor.ts';
import type { Deciding, Happening, SeenTask } from './task-plan.ts';
import type { TaskRecord } from './task-record.ts';
import { endsAsDone, findEdge, hooksFor, kindOf, roleOf, standingState, type EdgeKind } from './workflow.ts';
import { holderName, roleHolder } from './workflow-fields.ts';

/** A move that a write would make, and that has to be looked at outside of its transaction first. */
export interface MoveCheck {
  readonly id: string;
  /** The version that it was decided by. Another one is another move. */
  readonly version: number;
  readonly from: string;
  readonly to: string;
  readonly edge: EdgeKind;
  /** Who had the task. */
  readonly was: string | null;
  /** Who will have it, where the move leads to work. */
  readonly owner: string | undefined;
  /** It is a claim: the store has looked at its blockers. */
  readonly is_claim: boolean;
}

/** Of a writer that does what the hooks of the workflow say of its moves. */
export interface HookRunner {
  /** The agents that it starts. */
  readonly starts: ReadonlySet<string>;
  /** The move that it has looked at. */
  readonly checked?: MoveCheck | undefined;
}

export interface MoveCheckFacts {
  readonly runner: HookRunner | undefined;
  /** A run, a review or a merge of the task has not ended, or a process is about to start an agent on it. */
  readonly is_worked_on: boolean;
}

/** What of a write counts here; `record` of it is the task after it. */
export interface MovingWrite {
  readonly before: Pick<SeenTask, 'record' | 'version'>;
  readonly after: TaskRecord;
  readonly happening?: Pick<Happening, 'claimed' | 'triggered_by'> | undefined;
}

/** Whether it counts who is at work on the task. */
export function needsWorkers(write: MovingWrite, runner: HookRunner | undefined): boolean {
  // What Forge does on the way, as with leases that are over, is no move of the writer's.
  const isOwn = write.happening?.triggered_by === undefined;
  return runner !== undefined && isOwn && write.before.record.life !== write.after.life;
}

/**
 * Guards may take minutes, so they run where no transaction is open. The write that makes a move is the one place that
 * knows where it leads: it gives the move back, and is made again once the move was looked at and the task has stayed as
 * it was. Undefined where nobody has anything to say or to do about it: then the write is all there is.
 */
export function decideMoveCheck(
  write: MovingWrite,
  { runner, is_worked_on }: MoveCheckFacts,
  deciding: Pick<Deciding, 'workflow' | 'actor'>,
): MoveCheck | undefined {
  const { version } = write.before;
  if (runner === undefined || !needsWorkers(write, runner)) return undefined;
  const check = toCheck(write, deciding);
  const { checked } = runner;
  const isChecked = checked?.version === version && checked.to === check.to && checked.owner === check.owner;
  if (isChecked) return undefined;
  return is_worked_on || hasHooks(write.after, check, { ...deciding, runner }) ? check : undefined;
}

function toCheck(
  { before: { record, version }, after, happening }: MovingWrite,
  { workflow }: Pick<Deciding, 'workflow'>,
): MoveCheck {
  const from = standingState(workflow, record.life);
  const to = standingState(workflow, after.life);
  return {
    id: record.id,
    version,
    from,
    to,
    edge: findEdge(workflow, from, to) ?? 'edge',
    was: record.life.assignee,
    owner: kindOf(workflow, to) === 'active' ? (after.life.assignee ?? undefined) : undefined,
    is_claim: happening?.claimed === true,
  };
}

function hasHooks(
  after: TaskRecord,
  { from, to, edge, was, owner, is_claim }: MoveCheck,
  { workflow, actor, runner }: Pick<Deciding, 'workflow' | 'actor'> & { readonly runner: HookRunner },
): boolean {
  const isHandOver = from === to && owner !== undefined && owner !== was;
  if (from === to && !isHandOver) return false;
  // What is done has to be in its target, which may have to be looked up.
  if (from !== to && endsAsDone(workflow, to)) return true;
  const triggered_by = toTriggeredBy(actor);
  // Guards of agents count where an agent will have the task; whether one will is looked at with the guards.
  const list = (state: string, phase: Parameters<typeof hooksFor>[2]['phase']) =>
    hooksFor(workflow, state, { phase, triggered_by, for_agent: true });
  const left = isHandOver
    ? []
    : [...(edge === 'cancel' ? [] : list(from, 'before_exit')), ...list(from, 'on_exit')];
  const hooks = [...left, ...list(to, 'on_enter'), ...list(to, 'after_enter')];
  const starter = findStarter(after, roleOf(workflow, to), owner);
  return hooks.some(({ action }) => {
    if (action === 'dependency_gate') return !is_claim;
    if (action === 'dispatch_role_agent') return starter !== undefined && runner.starts.has(starter);
    return true;
  });
}

/** The agent that would work in the state, where the runner starts it. */
function findStarter(
  after: TaskRecord,
  role: string | undefined,
  owner: string | undefined,
): string | undefined {
  const holder = roleHolder(after, role ?? '');
  if (holder === undefined) return owner ?? after.life.assignee ?? undefined;
  return 'agent' in holder ? holderName(holder) : undefined;
}
