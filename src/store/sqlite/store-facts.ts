import type { Database } from './database.ts';

/** Numbers about this store that belong to no task. */
export function readFact(db: Database, name: string): number {
  return Number(db.get('SELECT value FROM store_facts WHERE name = ?', name)?.value ?? 0);
}

export function writeFact(db: Database, name: string, value: number): void {
  db.run(
    'INSERT INTO store_facts (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
    name,
    value,
  );
}
