import type { Database } from './database.ts';

/** What SQLite finds wrong with the file, and what no reader of the feed can read; in words. */
export function checkIntegrity(db: Pick<Database, 'all' | 'get'>): string[] {
  const found = db
    .all('PRAGMA integrity_check(20)')
    .map((row) => String(row['integrity_check']))
    .filter((line) => line !== 'ok');
  if (found.length > 0) return found;
  const events = Number(db.get('SELECT count(*) AS n FROM events WHERE NOT json_valid(data)')?.['n']);
  return events === 0 ? [] : [`events whose data cannot be read: ${events}`];
}
