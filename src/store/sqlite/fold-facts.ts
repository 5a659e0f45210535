import { birthOf } from '#domain/identity.ts';
import { parseIso } from '#kernel/clock.ts';
import { readJson } from '#kernel/read-json.ts';
import type { Database } from './database.ts';

/** The digest of every task's line, deleted ones too. */
export function readDigests(db: Database): Map<string, number | null> {
  const digests = new Map<string, number | null>();
  for (const table of ['tasks', 'deleted_tasks']) {
    for (const row of db.each(`SELECT id, digest FROM ${table}`)) {
      digests.set(row.id as string, row.digest as number | null);
    }
  }
  return digests;
}

/** The births of tasks that were told apart. Names of that length are few. */
export function readSharedBirths(db: Database): Set<string> {
  const births = new Set<string>();
  const long = "length(id) - instr(id, '-') > 6";
  for (const row of db.all(`SELECT id, created_at, created_by FROM tasks WHERE ${long}`)) {
    add(births, row.id as string, row.created_at as string, row.created_by as string);
  }
  for (const row of db.all(`SELECT id, line FROM deleted_tasks WHERE ${long}`)) {
    const line = readJson(row.line as string) as { created_at: string; created_by: string };
    add(births, row.id as string, line.created_at, line.created_by);
  }
  return births;
}

function add(births: Set<string>, id: string, created_at: string, created_by: string): void {
  const birth = birthOf({ id, created: Math.max(0, parseIso(created_at) ?? 0), created_by });
  if (birth !== id) births.add(birth);
}
