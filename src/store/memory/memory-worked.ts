import type { WorkedAttempt } from '#domain/worked-attempts.ts';
import type { MemoryTables } from './memory-tables.ts';

/** All attempts at a task, as its rules see them. */
export function listWorked({ attempts, runs }: MemoryTables, taskId: string): WorkedAttempt[] {
  const ofTask = attempts.list().filter(({ task_id }) => task_id === taskId);
  return ofTask.map((attempt) => {
    const inIt = runs.list().filter(({ attempt_id }) => attempt_id === attempt.id);
    return { ...attempt, roles: inIt.map(({ role }) => role) };
  });
}
