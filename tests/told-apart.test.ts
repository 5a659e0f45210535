import { describe, expect, it } from 'vitest';
import { makeRoot, SyncClone } from './support/sync-clone.ts';
import { readState } from './support/sync-state.ts';
import { SYNC } from './support/sync-world.ts';
import { tempFolder } from './support/temp-repo.ts';

const NOON = Date.UTC(2026, 1, 10, 12);

/** Found by the sequences: moves that were logged before a task got its second name. */
describe('the moves of a task that was told apart from another', () => {
  it.for([
    ['as it was written', false],
    ['after it was written anew', true],
  ] as const)('come back under its new name from the local replica %s', async ([, compact]) => {
    await using folder = await tempFolder();
    await using clone = await openClone(folder.path, 'ann');
    const task = await clone.store.createTask(TASK, clone.by());
    await clone.store.closeTask({ id: task.id, reason: 'Done' }, clone.by());
    if (compact) await clone.store.compactReplica(clone.by());
    clone.writeWorkingTree({ tasks: twinOf(task.id), history: undefined });
    await clone.fold();
    const before = await readMoves(clone);
    const name = [...(await readState(clone.store)).tasks.values()].find(
      ({ created_by }) => created_by === 'ann',
    )?.id;
    expect(name).not.toBe(task.id);
    expect(before).toEqual([expect.stringContaining(`"task":"${name}"`)]);
    await clone.removeDatabase();
    expect(await readMoves(clone)).toEqual(before);
  });
});

/** Found by the sequences: a parent that is deleted and told apart in one go left its child with a name that is gone. */
it('a child whose parent was deleted and told apart elsewhere is the same in both clones', async () => {
  await using folder = await tempFolder();
  await using ann = await openClone(folder.path, 'ann');
  await using bob = await openClone(folder.path, 'bob');
  const parent = await ann.store.createTask(TASK, ann.by());
  await ann.store.createTask({ ...TASK, parent_id: parent.id, depends_on: [parent.id] }, ann.by());
  await ann.export();
  bob.writeWorkingTree(ann.readWorkingTree());
  await bob.fold();
  await bob.store.deleteTask({ id: parent.id }, bob.by());
  await bob.export();
  const tree = bob.readWorkingTree();
  bob.writeWorkingTree({ ...tree, tasks: `${tree.tasks}${twinOf(parent.id)}` });
  await bob.export();
  ann.writeWorkingTree(bob.readWorkingTree());
  await ann.export();
  expect(ann.readWorkingTree()).toEqual(bob.readWorkingTree());
});

/** Another task that was born with the same id. */
function twinOf(id: string): string {
  const created_at = new Date(NOON).toISOString();
  return `${JSON.stringify({ id, title: 'Twin', status: 'open', created_at, created_by: 'somebody' })}\n`;
}

async function readMoves(clone: SyncClone): Promise<string[]> {
  const moves: string[] = [];
  for await (const part of clone.store.exportHistory('')) moves.push(...part.lines.map(String));
  return moves;
}

async function openClone(folder: string, name: string): Promise<SyncClone & AsyncDisposable> {
  const setup = { name, folder, driver: true, hooks: true, canonical: true, now: NOON };
  const around = { world: SYNC, remote: { branches: new Map() }, root: makeRoot(), numbers: { next: 0 } };
  const clone = new SyncClone(setup, around);
  await clone.open();
  return Object.assign(clone, { [Symbol.asyncDispose]: () => clone.close() });
}

const TASK = {
  id_prefix: 'fg',
  title: 'Task',
  description: '',
  type: 'task',
  priority: 2,
  state: 'todo',
  parent_id: null,
  assignee: null,
  labels: [],
  github_issue: null,
  depends_on: [],
  metadata: new Map(),
} as const;
