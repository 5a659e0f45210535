import { renameSync } from 'node:fs';
import { open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AttemptRecord } from '#contract/attempt-record.ts';
import type { RefusedRecord } from '../store-care.ts';
import { makeFolder, type FileModes } from '../file-modes.ts';
import { randomBytes } from '../random-bytes.ts';
import { readAttemptRecord, readRevision } from './attempt-records.ts';
import type { Database } from './database.ts';

const FILE = 'record.json';

/** Where the records of a database lie; the logs of the runs are beside them. */
export function recordsFolder(database: string): string {
  return join(dirname(database), 'attempts');
}

/**
 * Writes the record of an attempt as it is now, whole or not at all. Others may be writing it too: whoever finds that
 * there is something newer writes once more, so that the newest stands in the end.
 */
export async function writeRecordFile(db: Database, folder: string, id: string): Promise<void> {
  const path = join(folder, id, FILE);
  for (;;) {
    const record = db.read(() => readAttemptRecord(db, id));
    if (record === undefined) return;
    const temporary = await writeTemporary(path, `${JSON.stringify(record)}\n`, db.modes());
    // Nothing waits between this look and the change of the name.
    if (readRevision(db, id) === record.revision) {
      renameSync(temporary, path);
      if (readRevision(db, id) === record.revision) return;
    }
    await rm(temporary, { force: true });
  }
}

/** The records of tasks that have new names. One that cannot be written is written by the next change of it. */
export async function writeRenamed(db: Database, renamed: readonly { to: string }[]): Promise<void> {
  const ids = renamed.flatMap(({ to }) => db.all('SELECT id FROM attempts WHERE task_id = ?', to));
  for (const { id } of ids)
    await writeRecordFile(db, recordsFolder(db.path), id as string).catch(() => undefined);
}

async function writeTemporary(path: string, text: string, modes: FileModes): Promise<string> {
  makeFolder(dirname(path), modes);
  const temporary = `${path}.${Buffer.from(randomBytes(6)).toString('hex')}.tmp`;
  const file = await open(temporary, 'wx', modes.file);
  try {
    await file.chmod(modes.file);
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return temporary;
}

export interface RecordFile {
  readonly path: string;
  readonly record: AttemptRecord;
}

/** All that can be read, and what is wrong with the others. */
export async function readRecordFiles(
  folder: string,
): Promise<{ records: RecordFile[]; refused: RefusedRecord[] }> {
  const records: RecordFile[] = [];
  const refused: RefusedRecord[] = [];
  const names = await listFolders(folder).catch((error: unknown) => toProblem(error) ?? []);
  if ('problem' in names) return { records, refused: [{ path: folder, ...names }] };
  for (const name of names) {
    const path = join(folder, name, FILE);
    const text = await readRecordText(path).catch((error: unknown) => toProblem(error));
    // Logs without a record: nothing that was acknowledged.
    if (text === undefined) continue;
    const read = typeof text === 'string' ? await parseRecord(text, name) : text;
    if ('problem' in read) refused.push({ path, problem: read.problem });
    else records.push({ path, record: read.record });
  }
  return { records, refused };
}

/** A pipe or a device in its place would never end. */
async function readRecordText(path: string): Promise<string | { problem: string }> {
  if (!(await stat(path)).isFile()) return { problem: 'it is not a regular file' };
  return readFile(path, 'utf8');
}

async function listFolders(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? entry.name : [])).sort();
}

/** Undefined where there is nothing. */
function toProblem(error: unknown): { problem: string } | undefined {
  if (!(error instanceof Error)) return { problem: String(error) };
  return 'code' in error && error.code === 'ENOENT' ? undefined : { problem: error.message };
}

async function parseRecord(
  text: string,
  folder: string,
): Promise<{ record: AttemptRecord } | { problem: string }> {
  // Here, because most who open a new database have no record to read.
  const { AttemptRecord } = await import('#contract/attempt-record.ts');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: `it is not JSON: ${(error as Error).message}` };
  }
  const parsed = AttemptRecord.safeParse(value);
  if (!parsed.success) {
    const [first] = parsed.error.issues;
    return { problem: `${first?.path.join('.') ?? ''}: ${first?.message ?? 'it is no record'}` };
  }
  const { id } = parsed.data.attempt;
  return id === folder ? { record: parsed.data } : { problem: `it is the record of attempt ${id}` };
}
