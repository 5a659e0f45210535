import { ForgeError } from '#kernel/errors.ts';
import { parseJson, type JsonObject } from '#kernel/json.ts';
import type { ShownLine } from '../fold/fold-rows.ts';
import type { Database } from './database.ts';
import type { ReplicaAppender } from './replica-appender.ts';

const SHOWN = '{"shown":';

/** The digests of what a line showed last; undefined where it was not there then. */
export function readShown(
  db: Database,
  { path, task_id, seal }: Omit<ShownLine, 'digests'>,
): string | undefined {
  const sql = 'SELECT digests FROM shown_lines WHERE path = ? AND task_id = ? AND seal = ?';
  return db.get(sql, path, task_id, seal)?.digests as string | undefined;
}

/** What the lines of a task showed last, one for each line that was not the store's own. */
export function listShown(
  db: Database,
  path: string,
  task_id: string,
): { readonly seal: string; readonly digests: string }[] {
  return db
    .all('SELECT seal, digests FROM shown_lines WHERE path = ? AND task_id = ?', path, task_id)
    .map(({ seal, digests }) => ({ seal: seal as string, digests: digests as string }));
}

/** Also in the local replica: a rebuilt store must know what was changed back since. */
export function writeShown(db: Database, shown: ShownLine, appender?: ReplicaAppender): void {
  if (writeShownRow(db, shown)) appender?.appendBeside(encodeShown(shown));
}

/** False where it stood there already. */
export function writeShownRow(db: Database, { path, task_id, seal, digests }: ShownLine): boolean {
  const { changes } = db.run(
    `INSERT INTO shown_lines (path, task_id, seal, digests) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET digests = excluded.digests WHERE digests <> excluded.digests`,
    path,
    task_id,
    seal,
    digests,
  );
  return Number(changes) > 0;
}

export function listShownOf(db: Database, path: string): Pick<ShownLine, 'task_id' | 'seal'>[] {
  return db
    .all('SELECT task_id, seal FROM shown_lines WHERE path = ?', path)
    .map(({ task_id, seal }) => ({ task_id: task_id as string, seal: seal as string }));
}

export function forgetShown(db: Database, { path, task_id, seal }: Omit<ShownLine, 'digests'>): void {
  db.run('DELETE FROM shown_lines WHERE path = ? AND task_id = ? AND seal = ?', path, task_id, seal);
}

export function encodeShown({ path, task_id, seal, digests }: ShownLine): string {
  return `${SHOWN}${JSON.stringify([path, task_id, seal, digests])}}`;
}

/** Undefined for a line that is none. */
export function decodeShown(line: string): ShownLine | undefined {
  if (!line.startsWith(SHOWN)) return undefined;
  const { shown } = parseJson(line, 'A line of the local replica') as JsonObject; // it begins as one
  const [path, task_id, seal, digests] = Array.isArray(shown) ? (shown as unknown[]) : [];
  if (
    typeof path === 'string' &&
    typeof task_id === 'string' &&
    typeof seal === 'string' &&
    typeof digests === 'string'
  )
    return { path, task_id, seal, digests };
  throw new ForgeError('invalid_input', 'A line of the local replica tells of no line of a task file');
}

export function* shownLines(db: Database): Generator<string> {
  for (const row of db.all(
    'SELECT path, task_id, seal, digests FROM shown_lines ORDER BY path, task_id, seal',
  ))
    yield encodeShown(row as unknown as ShownLine); // the columns of the query
}
