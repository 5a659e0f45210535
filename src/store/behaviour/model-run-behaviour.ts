import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import fc from 'fast-check';
import type { Task } from '#contract/task.ts';
import { removeDatabase, tempStore, type TempStore } from '../../../tests/support/temp-store.ts';
import { StoreModel, type Flaw, type ModelDeleted } from './model-behaviour.ts';
import { WRONG_COUNTS } from '../../../tests/support/seed-sql.ts';
import { anyCommand, type Command, type World } from './model-commands-behaviour.ts';
import { plainTask } from './model-task-behaviour.ts';

export interface Fault {
  readonly flaw?: Flaw;
  readonly sabotage?: (temp: TempStore) => void;
  readonly beforeRebuild?: (temp: TempStore) => void;
}

/** What happens to the files between two processes. */
type Incident = 'reopen' | 'rebuild' | 'snapshot' | 'lose commits';
const INCIDENTS: readonly Incident[] = ['reopen', 'rebuild', 'rebuild', 'snapshot', 'lose commits'];

/** After each step of any sequence of writes and incidents, store and model say the same. */
export function storeEqualsModel(fault: Fault) {
  const incident = fc.constantFrom(...INCIDENTS);
  const steps = fc.array(
    fc.oneof({ weight: 14, arbitrary: anyCommand }, { weight: 1, arbitrary: incident }),
    {
      minLength: 5,
      maxLength: 60,
      size: 'max',
    },
  );
  return fc.asyncProperty(steps, async (list) => {
    await using temp = await tempStore();
    fault.sabotage?.(temp);
    const run = new ModelRun(temp, fault);
    for (const step of list) await (typeof step === 'string' ? run.suffer(step) : run.execute(step));
    await run.suffer('rebuild');
  });
}

class ModelRun {
  readonly #temp: TempStore;
  readonly #fault: Fault;
  readonly #model: StoreModel;
  readonly #ids: string[] = [];
  readonly #updated = new Map<string, string>();
  #saved: ReadonlyMap<string, ModelDeleted> | undefined;

  constructor(temp: TempStore, fault: Fault) {
    this.#temp = temp;
    this.#fault = fault;
    this.#model = new StoreModel(fault.flaw);
  }

  async execute(one: Command): Promise<void> {
    const { clock } = this.#temp;
    clock.advance(one.wait);
    const world: World = { store: this.#temp.store, model: this.#model, ids: this.#ids };
    const answer = await one.run(world, {
      actor: { kind: 'user', name: 'dave', named: true },
      now: clock.now(),
    });
    assert.deepEqual(answer.store, answer.model);
    await this.#compareLists();
    const touched = this.#ids[this.#updated.size % Math.max(1, this.#ids.length)];
    await this.#compareShown(touched === undefined ? [] : [touched, ...this.#ids.slice(-1)]);
  }

  async suffer(incident: Incident): Promise<void> {
    const { database } = this.#temp;
    const copy = `${database}.copy`;
    switch (incident) {
      case 'reopen':
        await this.#temp.reopen();
        break;
      case 'snapshot':
        await this.#temp.reopen(() => copyFileSync(database, copy));
        this.#saved = new Map(this.#model.deleted);
        break;
      case 'lose commits':
        // What a power cut does to a database that is not synced at each commit: it is back where it was.
        if (this.#saved === undefined) return;
        await this.#temp.reopen(async () => {
          await removeDatabase(database);
          copyFileSync(copy, database);
        });
        this.#forget(this.#saved);
        break;
      case 'rebuild':
        await this.#temp.reopen(async () => {
          this.#fault.beforeRebuild?.(this.#temp);
          await removeDatabase(database);
        });
        this.#forget(new Map());
        break;
    }
    await this.#compareLists();
    await this.#compareShown(this.#ids);
    await this.#compareStats();
    // What the doctor would call wrong, were it no fault of the test.
    if (Object.keys(this.#fault).length > 0) return;
    const { wrong } = await this.#temp.store.diagnose(this.#temp.clock.now());
    assert.deepEqual(wrong, { schema: [], missing: [], unreadable: [], changed: [] });
  }

  /** What hung on a deleted task only the database knew; a replay goes on without it. */
  #forget(remembered: ReadonlyMap<string, ModelDeleted>): void {
    using db = this.#temp.connect();
    for (const row of db.prepare('SELECT id, undo FROM deleted_tasks').all()) {
      const id = row['id'] as string;
      const gone = this.#model.deleted.get(id);
      if (gone === undefined) continue;
      const same = remembered.get(id);
      if (same?.serial === gone.serial) {
        this.#model.deleted.set(id, same);
        continue;
      }
      const { version, fence } = JSON.parse(row['undo'] as string) as { version: number; fence: number };
      assert.ok(version >= gone.task.version && fence >= gone.task.fence, `the numbers of ${id} went back`);
      const task = { ...gone.task, version, fence };
      this.#model.deleted.set(id, { ...gone, task, children: [], dependents: [] });
    }
  }

  async #compareLists(): Promise<void> {
    const { store } = this.#temp;
    const tasks = await store.listTasks({});
    assert.deepEqual(tasks.map(withoutTimes), this.#model.list().map(plainTask));
    for (const task of tasks) this.#checkTimes(task);
    const ready = await store.listReady({});
    assert.deepEqual(ids(ready), ids(this.#model.ready({})));
    assert.deepEqual(this.#recount(), []);
  }

  async #compareShown(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const task = this.#model.tasks.get(id);
      if (task === undefined) continue;
      assert.deepEqual(withoutTimes(await this.#temp.store.getTask(id)), this.#model.view(task));
    }
  }

  async #compareStats(): Promise<void> {
    const stats = await this.#temp.store.readStats({ now: this.#temp.clock.now(), exclude_types: [] });
    const { total, deleted, ready, blocked, parked } = stats;
    const open = [...this.#model.tasks.values()].filter(({ status }) => status === 'open');
    const expected = {
      total: this.#model.tasks.size,
      deleted: this.#model.deleted.size,
      ready: this.#model.ready({}).length,
      blocked: open.filter((task) => this.#model.openBlockers(task) > 0).length,
      parked: open.filter(({ state }) => state === 'backlog').length,
    };
    assert.deepEqual({ total, deleted, ready, blocked, parked }, expected);
  }

  /** Closed tasks have a time for it, and time never goes back for a task. */
  #checkTimes({ id, status, updated_at, closed_at }: Task): void {
    assert.equal(closed_at !== null, status === 'closed');
    assert.ok(updated_at >= (this.#updated.get(id) ?? ''), `${id} went back in time`);
    this.#updated.set(id, updated_at);
  }

  /** Tasks whose `open_blockers` is not what a count gives. */
  #recount(): unknown[] {
    using db = this.#temp.connect();
    return db.prepare(WRONG_COUNTS).all();
  }
}

function ids(tasks: readonly { id: string }[]): string[] {
  return tasks.map(({ id }) => id);
}

function withoutTimes<T extends { updated_at: string; closed_at: string | null }>(task: T) {
  const { updated_at: _updated, closed_at: _closed, ...rest } = task;
  return rest;
}
