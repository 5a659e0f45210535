import { DatabaseSync } from 'node:sqlite';

// The least that a durable claim can be: one conditional UPDATE, committed and synced. Every worker walks all
// tasks from a place of its own.
const [path = '', name = '', position = '0', workers = '1'] = process.argv.slice(2);
const db = new DatabaseSync(path, { timeout: 60_000 });
db.exec('PRAGMA synchronous = FULL');
const ids = (db.prepare('SELECT id FROM tasks ORDER BY id').all() as { id: string }[]).map((row) => row.id);
const claim = db.prepare(
  "UPDATE tasks SET status = 'in_progress', assignee = ?, updated_at = ? WHERE id = ? AND status = 'open' AND assignee IS NULL",
);
process.stdout.write('ready\n');
process.stdin.once('data', () => {
  const claimed: string[] = [];
  const start = Math.floor((ids.length * Number(position)) / Number(workers));
  for (let i = 0; i < ids.length; i += 1) {
    const id = ids[(start + i) % ids.length] ?? '';
    db.exec('BEGIN IMMEDIATE');
    const { changes } = claim.run(name, new Date().toISOString(), id);
    db.exec('COMMIT');
    if (Number(changes) === 1) claimed.push(id);
  }
  process.stdout.write(`${claimed.join('\n')}\n`);
});
