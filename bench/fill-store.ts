import { DatabaseSync } from 'node:sqlite';

/** An id that depends on the number alone, so that runs are comparable. */
export function taskId(i: number): string {
  return `fg-${((i * 7919) % 36 ** 6).toString(36).padStart(6, '0')}`;
}

/**
 * Tasks as a long-lived project has them: 30 % open, one dependency each, some 400 bytes of text. Written by
 * SQL with the triggers off and one recount at the end: the store's own writes would take an hour for a million.
 */
export function fillStore(
  database: string,
  count: number,
  options: { readonly top_blocked?: number } = {},
): void {
  const db = new DatabaseSync(database);
  const triggers = db.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").all() as {
    name: string;
    sql: string;
  }[];
  db.exec('PRAGMA synchronous = OFF; BEGIN');
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
  const task = db.prepare(
    `INSERT INTO tasks (id, title, description, status, close_reason, priority, type, labels, created_at, created_by, updated_at, closed_at, metadata, state)
     VALUES (?, ?, ?, ?, ?, ?, 'task', ?, ?, 'orchestrator', ?, ?, ?, ?)`,
  );
  const text = 'What is to be done, and how to tell that it is. '.repeat(8);
  for (let i = 0; i < count; i += 1) {
    const open = i % 10 < 3;
    const at = new Date(1_700_000_000_000 + i * 1000).toISOString();
    const end = open ? null : at;
    const labels = `["area-${i % 7}","core"]`;
    task.run(
      taskId(i),
      `Task number ${i}`,
      text,
      open ? 'open' : 'closed',
      open ? null : 'done',
      priorityOf(i),
      labels,
      at,
      at,
      end,
      `{"n":${i}}`,
      open ? 'todo' : 'done',
    );
  }
  addEdges(db, count, options.top_blocked ?? 0);
  db.exec(`UPDATE tasks SET open_blockers = (SELECT count(*) FROM dependencies d JOIN tasks b ON b.id = d.to_id
    WHERE d.from_id = tasks.id AND d.dep_type = 'blocks' AND b.status <> 'closed')
    WHERE id IN (SELECT from_id FROM dependencies)`);
  for (const { sql } of triggers) db.exec(sql);
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

/** Evenly spread over the open tasks as over all. */
function priorityOf(i: number): number {
  return Math.floor(i / 10) % 5;
}

/** One dependency each; with `top_blocked`, that share of the open tasks, the most urgent ones, waits for an open one. */
function addEdges(db: DatabaseSync, count: number, topBlocked: number): void {
  const edge = db.prepare(
    "INSERT OR IGNORE INTO dependencies (from_id, to_id, dep_type) VALUES (?, ?, 'blocks')",
  );
  for (let i = 60; i < count - 50; i += 1) edge.run(taskId(i), taskId(blockerOf(i, topBlocked)));
}

function blockerOf(i: number, topBlocked: number): number {
  if (topBlocked === 0) return i - 1 - ((i * 37 + Math.floor(i / 7)) % 50);
  const waits = i % 10 < 3 && priorityOf(i) < topBlocked * 5;
  // Of each fifty, number 40 is open and least urgent; numbers that end in 5 are closed.
  return waits ? i - (i % 50) + 40 : i - (i % 10) - 5;
}
