import { decodeRecord, encodeRecord, KNOWN_KEYS } from '#domain/record-codec.ts';
import { dependencyKey, isDeleted, MAP_NAMES } from '#domain/task-record.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { Json, JsonObject } from '#kernel/json.ts';
import { readJson } from '#kernel/read-json.ts';
import type { Database, Row } from './database.ts';
import { LINE_FIELDS } from '#domain/line-fields.ts';
import { decodeReplicaLine, splitReplicaLine } from './replica-lines.ts';

/** A task as far as its row can be read. */
export interface SalvagedRow {
  readonly line: string;
  /** What is in the row and cannot be read, and what of that no line of the replica knows either. */
  readonly unreadable: readonly string[];
  readonly lost: readonly string[];
}

/** Columns that hold JSON, and the keys of the line that they are. */
const JSON_COLUMNS = {
  labels: 'labels',
  metadata: 'metadata',
  conflicts: 'conflicts',
  stamps: '_v',
} as const;

const BEGINNING = '1970-01-01T00:00:00.000Z';

/**
 * Reads a row column by column, and what hangs on it table by table. What is not there or cannot be read is as `told`
 * has it, the newest line of the replica. Undefined for a row that gives no task.
 */
export function salvageRow(
  db: Database,
  { id, version, told }: { id: string; version: number; told: string | undefined },
): SalvagedRow | undefined {
  const found = new Salvage(readTold(told), version);
  for (const name of LINE_FIELDS) found.take(name, readColumn(db, id, name));
  for (const [column, key] of Object.entries(JSON_COLUMNS))
    found.take(key, parsed(readColumn(db, id, column)));
  found.takeExtra(parsed(readColumn(db, id, 'extra')));
  found.takeParent(rowsOf(db, 'SELECT parent_id FROM unresolved_parents WHERE task_id = ?', id));
  const edges = ['dependencies', 'unresolved_dependencies'].map((table) =>
    rowsOf(db, `SELECT to_id AS id, dep_type AS type FROM ${table} WHERE from_id = ?`, id),
  );
  found.takeEdges(edges, parsed(readColumn(db, id, 'edge_extra')));
  found.takeComments(rowsOf(db, 'SELECT * FROM comments WHERE task_id = ?', id));
  return found.finish();
}

/** `absent`: there is no such column or table. `unreadable`: there is, and something is in it. */
type Read<T> = { readonly value: T } | 'absent' | 'unreadable';

class Salvage {
  readonly #told: JsonObject;
  readonly #line: Record<string, Json>;
  readonly #isCurrent: boolean;
  readonly #unreadable = new Set<string>();
  readonly #lost = new Set<string>();

  constructor({ line, version }: Told, ofRow: number) {
    this.#told = line;
    this.#line = { ...line };
    this.#isCurrent = version >= ofRow;
  }

  take(key: string, read: Read<unknown>): void {
    if (read === 'absent') return;
    if (read === 'unreadable') this.#miss(key);
    else if (read.value === null) delete this.#line[key];
    else this.#line[key] = read.value as Json; // decoding says whether it is one
  }

  takeExtra(read: Read<unknown>): void {
    if (read === 'absent') return;
    if (read === 'unreadable') return this.#miss('extra');
    for (const key of Object.keys(this.#line)) if (!KNOWN_KEYS.has(key)) delete this.#line[key];
    Object.assign(this.#line, read.value);
  }

  takeParent(read: Read<Row[]>): void {
    if (typeof this.#line.parent_id === 'string') return;
    const parent = typeof read === 'string' ? this.#told.parent_id : read.value[0]?.parent_id;
    if (typeof parent === 'string') this.#line.parent_id = parent;
  }

  takeEdges(reads: readonly Read<Row[]>[], extras: Read<unknown>): void {
    const found = reads.flatMap((read) => (typeof read === 'string' ? [] : read.value)) as JsonObject[];
    const edges = found.filter((edge) => this.#fits('dependencies', [edge]));
    const isWhole = [...reads, extras].every((read) => typeof read !== 'string');
    if ([...reads, extras].includes('unreadable') || edges.length < found.length) this.#miss('dependencies');
    const told = isWhole && edges.length === found.length ? [] : (this.#told.dependencies ?? []);
    const more = (typeof extras === 'string' ? {} : (extras.value ?? {})) as JsonObject;
    const all = new Map(
      [...edges, ...(told as JsonObject[])].map((edge) => {
        const key = dependencyKey(edge.id as string, edge.type as string); // it fits
        return [key, { ...edge, ...(more[key] as JsonObject | undefined) }] as const;
      }),
    );
    this.#line.dependencies = [...all.values()] as Json;
  }

  takeComments(read: Read<Row[]>): void {
    if (read === 'absent') return;
    if (read === 'unreadable') return this.#miss('comments');
    const comments = new Map(
      ((this.#told.comments ?? []) as { id: string }[]).map((comment) => [comment.id, comment]),
    );
    let isWhole = true;
    const rows = read.value.flatMap(({ task_id: _task, extra, ...row }) => {
      const more = parsed(extra === undefined ? 'absent' : { value: extra });
      const comment = { ...row, ...(typeof more === 'string' ? {} : (more.value as JsonObject | null)) };
      if (more !== 'unreadable' && this.#fits('comments', [comment] as Json)) return [comment];
      isWhole = false;
      return this.#fits('comments', [row] as Json) ? [row] : (comments.get(String(row.id)) ?? []);
    });
    if (!isWhole) this.#miss('comments');
    this.#line.comments = rows as Json;
  }

  finish(): SalvagedRow | undefined {
    const line = this.#line;
    for (const key of Object.keys(line)) {
      if (key !== 'id' && !this.#fits(key, line[key])) this.#miss(key);
    }
    line.status ??= 'open';
    line.created_by ??= 'unknown';
    line.created_at ??= line.updated_at ?? BEGINNING;
    if (line._v !== undefined) line._v = this.#toStamps(line._v as JsonObject); // it fits
    try {
      const encoded = encodeRecord(decodeRecord(line));
      return { line: encoded, unreadable: [...this.#unreadable], lost: [...this.#lost] };
    } catch (error) {
      if (!isForgeError(error) && !(error instanceof TypeError)) throw error;
      return undefined;
    }
  }

  /** As the replica has it, or left out. A line of an older version does not tell all. */
  #miss(key: string): void {
    this.#unreadable.add(key);
    if (!this.#isCurrent) this.#lost.add(key);
    const told = this.#told[key];
    if (told === undefined) delete this.#line[key];
    else this.#line[key] = told;
  }

  /** Whether a task may have it. */
  #fits(key: string, value: Json | undefined): boolean {
    if (value === undefined) return true;
    const least = { id: 'fg-none', created_at: BEGINNING, created_by: 'unknown', status: 'open' };
    try {
      decodeRecord({ ...least, [key]: value });
      return true;
    } catch {
      return false;
    }
  }

  /** What was lost must not count as removed, or it would be removed from other copies of the task too. */
  #toStamps(stamps: JsonObject): JsonObject {
    const lost = MAP_NAMES.filter((name) => this.#lost.has(name) && this.#told[name] === undefined);
    return Object.fromEntries(Object.entries(stamps).filter(([key]) => !lost.some((name) => name === key)));
  }
}

interface Told {
  readonly line: JsonObject;
  readonly version: number;
}

const NOTHING: Told = { line: {}, version: -1 };

/** What a line says of a task that is not deleted. */
function readTold(told: string | undefined): Told {
  if (told === undefined) return NOTHING;
  try {
    const { record, numbers } = decodeReplicaLine(told);
    if (isDeleted(record)) return NOTHING;
    const { _local: _numbers, ...line } = readJson(splitReplicaLine(told)?.task ?? told) as JsonObject;
    return { line, version: numbers?.version ?? 0 };
  } catch {
    return NOTHING; // A line that cannot be read says nothing.
  }
}

function readColumn(db: Database, id: string, column: string): Read<unknown> {
  const read = rowsOf(db, `SELECT ${column} AS value FROM tasks WHERE id = ?`, id);
  return typeof read === 'string' ? read : { value: read.value[0]?.value ?? null };
}

function rowsOf(db: Database, sql: string, id: string): Read<Row[]> {
  try {
    return { value: db.all(sql, id) };
  } catch (error) {
    return error instanceof Error && /no such (table|column)/.test(error.message) ? 'absent' : 'unreadable';
  }
}

function parsed(read: Read<unknown>): Read<unknown> {
  if (typeof read === 'string' || read.value === null) return read;
  try {
    return { value: readJson(read.value as string) };
  } catch {
    return 'unreadable';
  }
}
