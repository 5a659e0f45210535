import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { reportCost, startCost } from './report-cost.ts';

// The least that an export and an import can be: rows to JSON to a file, and back, without a thought about either.
const [mode = '', database = '', tasks = ''] = process.argv.slice(2);
const BATCH = 1 << 20;
const COLUMNS = [
  'id',
  'title',
  'description',
  'status',
  'close_reason',
  'priority',
  'type',
  'assignee',
  'parent_id',
  'labels',
  'github_issue',
  'created_at',
  'created_by',
  'updated_at',
  'closed_at',
  'metadata',
  'state',
  'stamps',
] as const;

const db = new DatabaseSync(database);
db.exec('PRAGMA synchronous = NORMAL');
const cost = startCost();
if (mode === 'export') exportRows();
if (mode === 'import') importLines();
reportCost(cost);
db.close();

function exportRows(): void {
  const out = createOutput(tasks);
  const edges = db.prepare('SELECT from_id, to_id, dep_type FROM dependencies ORDER BY from_id').iterate();
  let edge = edges.next();
  for (const row of db.prepare(`SELECT ${COLUMNS.join(', ')} FROM tasks ORDER BY id`).iterate()) {
    const dependencies: unknown[] = [];
    for (; edge.done !== true && edge.value.from_id === row.id; edge = edges.next()) {
      dependencies.push({ id: edge.value.to_id, type: edge.value.dep_type });
    }
    const json = (column: string): unknown =>
      row[column] === null ? undefined : (JSON.parse(row[column] as string) as unknown);
    out.write(
      JSON.stringify({
        ...row,
        dependencies,
        labels: json('labels'),
        metadata: json('metadata'),
        stamps: json('stamps'),
      }),
    );
  }
  out.close();
}

function importLines(): void {
  const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all();
  db.exec('BEGIN IMMEDIATE');
  for (const { name } of names) db.exec(`DROP TRIGGER "${String(name)}"`);
  const insert = db.prepare(
    `INSERT INTO tasks (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`,
  );
  const link = db.prepare('INSERT INTO dependencies (from_id, to_id, dep_type) VALUES (?, ?, ?)');
  const replica = createOutput(join(dirname(database), 'tasks.jsonl'));
  const edges: [string, string, string][] = [];
  for (const line of readLines(tasks)) {
    const task = JSON.parse(line) as Record<string, never> & {
      id: string;
      dependencies: { id: string; type: string }[];
    };
    for (const { id, type } of task.dependencies) edges.push([task.id, id, type]);
    insert.run(
      task.id,
      task['title'] ?? null,
      task['description'] ?? null,
      task['status'] ?? null,
      task['close_reason'] ?? null,
      task['priority'] ?? null,
      task['type'] ?? null,
      task['assignee'] ?? null,
      task['parent_id'] ?? null,
      JSON.stringify(task['labels']),
      task['github_issue'] ?? null,
      task['created_at'] ?? null,
      task['created_by'] ?? null,
      task['updated_at'] ?? null,
      task['closed_at'] ?? null,
      JSON.stringify(task['metadata']),
      task['status'] === 'closed' ? 'done' : 'todo',
      task['_v'] === undefined ? null : JSON.stringify(task['_v']),
    );
    replica.write(line);
  }
  for (const edge of edges) link.run(...edge);
  // Without the count nothing would be ready.
  db.exec(`UPDATE tasks SET open_blockers = counted.n FROM (SELECT d.from_id AS id, count(*) AS n FROM dependencies d
    JOIN tasks b ON b.id = d.to_id WHERE d.dep_type = 'blocks' AND b.status <> 'closed' GROUP BY d.from_id) AS counted
    WHERE counted.id = tasks.id`);
  replica.close();
  db.exec('COMMIT');
}

function createOutput(path: string): { write(line: string): void; close(): void } {
  const file = openSync(path, 'w');
  let lines: string[] = [];
  let length = 0;
  const flush = (): void => {
    writeSync(file, `${lines.join('\n')}\n`);
    lines = [];
    length = 0;
  };
  return {
    write(line) {
      lines.push(line);
      length += line.length;
      if (length >= BATCH) flush();
    },
    close() {
      if (lines.length > 0) flush();
      fsyncSync(file);
      closeSync(file);
    },
  };
}

function* readLines(path: string): Generator<string> {
  const file = openSync(path, 'r');
  let rest = '';
  const decoder = new TextDecoder();
  const chunk = Buffer.allocUnsafe(BATCH);
  for (let count = readSync(file, chunk); count > 0; count = readSync(file, chunk)) {
    const lines = (rest + decoder.decode(chunk.subarray(0, count), { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  closeSync(file);
}
