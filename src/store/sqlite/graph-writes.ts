import type { DependencyType, Task } from '#contract/task.ts';
import { checkElements } from '#domain/bound-elements.ts';
import { encodeRecord, listDependencies } from '#domain/record-codec.ts';
import { deleteRecord, editRecord, hasContent, restoreRecord } from '#domain/task-changes.ts';
import { dependencyKey, fieldValue, textValue, type TaskRecord } from '#domain/task-record.ts';
import { toTask } from '#domain/to-task.ts';
import { parseIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { readJson } from '#kernel/read-json.ts';
import type { RememberedTask } from '../report.ts';
import type { DeleteResult, TaskStore } from '../store.ts';
import { checkSave } from './check-save.ts';
import { listAllBlockers, listAncestors, refuseDependencyCycle, selfDependency } from './cycle-checks.ts';
import type { Database } from './database.ts';
import { adoptUnresolved, removeRow } from './edge-rows.ts';
import { refuseManyRestored, refuseManyTies } from './neighbour-bounds.ts';
import { readLine, readRecord, toEncoded, type StoredRecord } from './record-rows.ts';
import { resolveTaskId } from './resolve-id.ts';
import { checkSeen } from './save-plan.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** The port's writes that touch more than one task: edges, deletion and its undo. */

export function addDependency(
  tx: WriteTransaction,
  edge: Parameters<TaskStore['addDependency']>[0],
): { from_id: string; to_id: string; added: boolean } {
  const from_id = resolveTaskId(tx.db, edge.from_id);
  const to_id = edge.foreign === true ? edge.to_id : resolveTaskId(tx.db, edge.to_id);
  if (from_id === to_id) throw selfDependency(from_id);
  const before = tx.read(from_id);
  checkSeen(tx, before, { fence: edge.fence });
  const after = editRecord(
    before.record,
    { dependencies: new Map([[dependencyKey(to_id, edge.type), { value: true }]]) },
    tx.by.now,
  );
  if (after === before.record) return { from_id, to_id, added: false };
  if (edge.type === 'blocks') refuseDependencyCycle(tx, from_id, to_id);
  checkElements(before.record, after);
  tx.save(before, after, {
    type: 'dependency.added',
    changed: ['dependencies'],
    more: { dependency: { id: to_id, type: edge.type } },
  });
  return { from_id, to_id, added: true };
}

export function removeDependency(
  tx: WriteTransaction,
  edge: Parameters<TaskStore['removeDependency']>[0],
): { from_id: string; to_id: string; removed: DependencyType[] } {
  const from_id = resolveTaskId(tx.db, edge.from_id);
  const before = tx.read(from_id);
  checkSeen(tx, before, { fence: edge.fence });
  const edges = listDependencies(before.record);
  // A blocker that is not in this project is known by its edge alone.
  const to_id = edges.some(({ id }) => id === edge.to_id) ? edge.to_id : resolveTaskId(tx.db, edge.to_id);
  const removed = edges.filter(
    ({ id, type }) => id === to_id && (edge.type === undefined || type === edge.type),
  );
  if (removed.length === 0) {
    throw new ForgeError(
      'not_found',
      `${from_id} has no ${edge.type ?? ''}${edge.type === undefined ? '' : ' '}dependency on ${to_id}`,
      {
        hint: `forge task show ${from_id}`,
        details: { from_id, to_id },
      },
    );
  }
  const edits = new Map(removed.map(({ id, type }) => [dependencyKey(id, type), { value: undefined }]));
  tx.save(before, editRecord(before.record, { dependencies: edits }, tx.by.now), {
    type: 'dependency.removed',
    changed: ['dependencies'],
    more: { dependencies: removed },
  });
  return { from_id, to_id, removed: removed.map(({ type }) => type as DependencyType) }; // decoded as such
}

export interface Undo {
  readonly before: string;
  readonly version: number;
  readonly fence: number;
  readonly children: readonly string[];
  readonly dependents: readonly (readonly [string, DependencyType])[];
  /** The deletion came with a fold or a replay, which does not tell what hung on the task. */
  readonly elsewhere?: boolean;
}

export function deleteTask(
  tx: WriteTransaction,
  remove: Parameters<TaskStore['deleteTask']>[0],
): DeleteResult {
  const { db, by } = tx;
  const stored = tx.read(resolveTaskId(db, remove.id));
  const { record } = stored;
  const { id } = record;
  checkSeen(tx, stored, { version: remove.version, fence: remove.fence });
  const former_owner = checkSave(tx, stored, { after: undefined });
  if (tx.bounded) refuseManyTies(db, id);
  const children = db
    .all('SELECT id FROM tasks WHERE parent_id = ? ORDER BY id', id)
    .map((row) => row.id as string);
  const inbound = db.all(
    'SELECT from_id, dep_type FROM dependencies WHERE to_id = ? ORDER BY from_id, dep_type',
    id,
  );
  const dependents = inbound.map((row) => [row.from_id as string, row.dep_type as DependencyType] as const);
  const wereBlocked = db
    .all(
      `SELECT t.id FROM dependencies d JOIN tasks t ON t.id = d.from_id
        WHERE d.to_id = ? AND d.dep_type = 'blocks' AND t.open_blockers > 0 ORDER BY t.id`,
      id,
    )
    .map((row) => row.id as string);
  for (const [neighbour, { child, types }] of toTies(children, dependents)) {
    const edges = types.map((type) => [dependencyKey(id, type), { value: undefined }] as const);
    changeTies(tx, neighbour, { ...(child && { parent_id: null }), edges });
  }
  const deleted = toEncoded(deleteRecord(record, by.now));
  const deleted_at = textValue(deleted.record, 'deleted_at');
  const undo: Undo = {
    before: encodeRecord(record),
    version: stored.version,
    fence: stored.fence,
    children,
    dependents,
  };
  removeRow(db, id);
  db.run(
    'INSERT INTO deleted_tasks (id, deleted_at, line, undo, digest) VALUES (?, ?, ?, ?, ?)',
    id,
    deleted_at,
    deleted.line,
    JSON.stringify(undo),
    deleted.digest,
  );
  tx.saveLine(deleted, { version: stored.version + 1, fence: stored.fence + 1 });
  const more = former_owner === undefined ? {} : { former_owner };
  tx.emit(id, { type: 'task.deleted', changed: [], more }, toTask(record, stored.version, tx.db.workflow));
  return {
    id,
    title: textValue(record, 'title'),
    deleted_at,
    orphaned: children,
    unblocked: wereBlocked.filter((from) => readOpenBlockers(db, from) === 0),
    ...(former_owner !== undefined && { former_owner }),
  };
}

export function restoreTask(tx: WriteTransaction, restore: Parameters<TaskStore['restoreTask']>[0]): Task {
  const { db, by } = tx;
  const id = resolveTaskId(db, restore.id, 'deleted');
  const row = db.get('SELECT line, undo, deleted_at FROM deleted_tasks WHERE id = ?', id);
  const deleted = row === undefined ? undefined : readLine(row.line as string);
  const undo = readUndo(row, restore.remembered, deleted);
  if (deleted === undefined || undo === undefined) {
    throw new ForgeError('not_found', `What ${id} held is neither in this store nor in git's history here`, {
      hint: 'git fetch --unshallow, or git fetch --all; then try again',
      details: { id },
    });
  }
  const before = readLine(undo.before);
  checkSeen(tx, { ...undo, record: before }, { fence: restore.fence });
  if (tx.bounded) refuseManyRestored(db, id, [...undo.children, ...undo.dependents.map(([from]) => from)]);
  const restored = restoreRecord(deleted, before, by.now);
  const parent = fieldValue(restored, 'parent_id');
  const orphan = typeof parent === 'string' && readRecord(db, parent) === undefined;
  const record = orphan ? editRecord(restored, { fields: new Map([['parent_id', null]]) }, by.now) : restored;
  db.run('DELETE FROM deleted_tasks WHERE id = ?', id);
  const { task } = tx.restore(record, undo, { type: 'task.created', changed: [], more: { restored: true } });
  dropWaitingCycles(tx, id);
  adoptUnresolved(db, id);
  // What git remembers may be older than the deletion: only what was taken from the task by it comes back.
  const since = undo.elsewhere === true ? (parseIso(String(row?.deleted_at)) ?? 0) : 0;
  restoreLinks(tx, id, { ...undo, since });
  return task;
}

function restoreLinks(
  tx: WriteTransaction,
  id: string,
  { children, dependents, since }: Pick<Undo, 'children' | 'dependents'> & { readonly since: number },
): void {
  const { db } = tx;
  const ties = toTies(children, dependents);
  if (ties.size === 0) return;
  // A tie to this task adds no way out of it, so that what can be reached from it is read once.
  const [above, awaited] = [listAncestors(tx, id), listAllBlockers(tx, id)];
  for (const [neighbour, { child, types }] of ties) {
    const stored = readRecord(db, neighbour);
    if (stored === undefined) continue;
    const { record } = stored;
    const isFree = fieldValue(record, 'parent_id') === null;
    const cut = record.fields.get('parent_id')?.stamp ?? 0;
    const isChild = child && isFree && cut >= since && !above.has(neighbour);
    const { elements, floor } = record.dependencies;
    const edges = types.flatMap((type) => {
      const key = dependencyKey(id, type);
      if ((elements.get(key)?.stamp ?? floor) < since) return [];
      return type === 'blocks' && awaited.has(neighbour) ? [] : [[key, { value: true }] as const];
    });
    if (isChild || edges.length > 0)
      changeTies(tx, neighbour, { ...(isChild && { parent_id: id }), edges }, stored);
  }
}

interface Ties {
  readonly child: boolean;
  readonly types: readonly DependencyType[];
}

/** What ties each neighbour to the task, so that its record is changed once: children first. */
function toTies(children: Undo['children'], dependents: Undo['dependents']): ReadonlyMap<string, Ties> {
  const ties = new Map<string, Ties>();
  for (const child of children) ties.set(child, { child: true, types: [] });
  for (const [from, type] of dependents) {
    const known = ties.get(from) ?? { child: false, types: [] };
    ties.set(from, { ...known, types: [...known.types, type] });
  }
  return ties;
}

function changeTies(
  tx: WriteTransaction,
  neighbour: string,
  {
    parent_id,
    edges,
  }: {
    readonly parent_id?: string | null;
    readonly edges: readonly (readonly [string, { readonly value: true | undefined }])[];
  },
  before: StoredRecord = tx.read(neighbour),
): void {
  const edit = {
    ...(parent_id !== undefined && { fields: new Map([['parent_id', parent_id]]) }),
    dependencies: new Map(edges),
  };
  const changed = [
    ...(parent_id === undefined ? [] : ['parent_id']),
    ...(edges.length === 0 ? [] : ['dependencies']),
  ];
  tx.save(before, editRecord(before.record, edit, tx.by.now), { type: 'task.updated', changed });
}

function readOpenBlockers(db: Database, id: string): number {
  return Number(db.get('SELECT open_blockers FROM tasks WHERE id = ?', id)?.open_blockers ?? 0);
}

/** The store's own memory before git's; what hung on the task is git's to say where the deletion came from elsewhere. */
function readUndo(
  row: Readonly<Record<string, unknown>> | undefined,
  remembered: RememberedTask | undefined,
  deleted: TaskRecord | undefined,
): Undo | undefined {
  const own = typeof row?.['undo'] === 'string' ? (readJson(row['undo']) as Undo) : undefined; // written by deleteTask
  if (remembered === undefined && own === undefined && deleted !== undefined && hasContent(deleted)) {
    // The line holds it, and it is not known what hung on the task.
    const before = encodeRecord(deleted);
    return { before, version: 1, fence: 1, children: [], dependents: [], elsewhere: true };
  }
  if (remembered === undefined || (own !== undefined && own.elsewhere !== true)) return own;
  const { line, children, dependents } = remembered;
  return { before: line, version: 1, fence: 1, ...own, children, dependents, elsewhere: true };
}

/** An edge that waited for this task is dropped where its coming back would close a cycle. */
function dropWaitingCycles(tx: WriteTransaction, id: string): void {
  const waiting =
    "SELECT from_id FROM unresolved_dependencies WHERE to_id = ? AND dep_type = 'blocks' ORDER BY from_id";
  const rows = tx.db.all(waiting, id);
  if (rows.length === 0) return;
  const awaited = listAllBlockers(tx, id);
  for (const row of rows) {
    const from = row.from_id as string;
    if (!awaited.has(from)) continue;
    changeTies(tx, from, { edges: [[dependencyKey(id, 'blocks'), { value: undefined }]] });
  }
}
