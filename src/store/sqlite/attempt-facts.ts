import type { WorkedAttempt } from '#domain/worked-attempts.ts';
import type { Database } from './database.ts';

/** By the index of the task's numbers, and by idx_runs_attempt. */
const WORKED = `SELECT id, name, number, state, created_at, finished_at,
    CASE state WHEN 'archived' THEN (SELECT json_group_array(r.role) FROM runs r WHERE r.attempt_id = a.id) END AS roles
  FROM attempts a WHERE task_id = ?`;

/** All attempts at a task, as its rules see them; most tasks have none. */
export function listWorked(db: Database, taskId: string): WorkedAttempt[] {
  return db.all(WORKED, taskId).map((row) => ({
    id: row.id as string,
    name: row.name as string,
    number: row.number as number,
    state: row.state as WorkedAttempt['state'],
    created_at: row.created_at as string,
    finished_at: row.finished_at as string | null,
    roles: typeof row.roles === 'string' ? (JSON.parse(row.roles) as string[]) : [], // as the query makes it
  }));
}
