import { kindOf, roleOf, statusOfKind, type ResolvedWorkflow } from './workflow.ts';
import type { Life } from './task-record.ts';

/** What decides who has a task after a move. */
export interface MovedLife {
  readonly life: Pick<Life, 'status' | 'assignee'>;
  /** Whom a role was given to; undefined where nobody was named. */
  readonly holderOf: (role: string) => string | undefined;
  /** Who asks for the move; empty for Forge itself, which has no name to become an owner. */
  readonly actor: string;
  readonly to: string;
}

/**
 * Who has a task after a move that leaves it unfinished; null for nobody. Whoever begins to work on a task that nobody
 * has becomes its owner, unless the role of the work was given to another.
 */
export function findMoveOwner(
  workflow: ResolvedWorkflow,
  { life, holderOf, actor, to }: MovedLife,
): string | null {
  const kind = kindOf(workflow, to) ?? 'custom';
  if (statusOfKind(kind) === 'open') return life.status === 'open' ? life.assignee : null;
  if (kind !== 'active') return life.assignee;
  const holder = holderOf(roleOf(workflow, to) ?? '');
  if (holder !== undefined) return holder;
  const begins = life.status === 'open' || actor !== '';
  return life.assignee ?? (begins ? actor : null);
}
