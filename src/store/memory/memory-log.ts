import type { Transition } from '#contract/task.ts';
import type { Move } from '#domain/plan-write.ts';
import { toIso } from '#kernel/clock.ts';
import { toKey, type MemoryTables, type TransitionRow } from './memory-tables.ts';

/** `at` is the stamp of the life that the move led to. False for one that is known already: it stays as it is. */
export function insertMove(
  { transitions }: MemoryTables,
  {
    task_id,
    at,
    event_seq,
  }: { readonly task_id: string; readonly at: number; readonly event_seq: number | null },
  { reason, rejection, ...move }: Move,
): boolean {
  const { from_state, to_state, triggered_by } = move;
  const statuses = move as Pick<Transition, 'from_status' | 'to_status'>; // those of two lives
  const told = { trigger_reason: reason, rejection: rejection === 1, hook_results: null };
  const created_at = toIso(at);
  const row = { from_state, to_state, triggered_by, ...statuses, ...told, task_id, created_at, event_seq };
  const key = keyOf(row);
  if (transitions.has(key)) return false;
  transitions.set(key, row);
  return true;
}

/** The moves of a task go with it to its new name; one that is known there already stays as it is. */
export function renameMoves({ transitions }: MemoryTables, from: string, to: string): void {
  for (const row of transitions.list()) {
    if (row.task_id !== from) continue;
    const renamed = { ...row, task_id: to };
    if (transitions.has(keyOf(renamed))) continue;
    transitions.delete(keyOf(row));
    transitions.set(keyOf(renamed), renamed);
  }
}

function keyOf({ task_id, created_at, from_state, to_state, triggered_by }: TransitionRow): string {
  return toKey(task_id, created_at, from_state, to_state, triggered_by);
}
