import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { isForgeError } from '#kernel/errors.ts';
import type { EventStore } from '../event-store.ts';
import type { TaskStore, Writer } from '../store.ts';
import { someActs, toConditions, type Act, type Actors, type Known } from './lockstep-acts-behaviour.ts';

/** A store of every kind of row, with a clock that the test moves. */
export interface LockstepStore extends AsyncDisposable {
  readonly store: Actors;
}

export interface Lockstep {
  readonly acts?: fc.Arbitrary<Act[]>;
  /** What is asked at the end besides. */
  readonly readMore?: ((store: Actors) => Promise<unknown>) | undefined;
}

/**
 * Two stores that are told the same say the same: every answer, every refusal with its words, every event and every
 * list. Ids are random, so each task has a prefix of its own, by which both stores order them alike.
 */
export function storesAreEqual(
  openOne: () => Promise<LockstepStore>,
  openOther: () => Promise<LockstepStore>,
  { acts: list = someActs, readMore }: Lockstep = {},
) {
  return fc.asyncProperty(list, async (acts) => {
    await using one = await openOne();
    await using other = await openOther();
    const sides = [new Side(one.store), new Side(other.store)] as const;
    let now = Date.UTC(2026, 1, 10, 9);
    for (const act of acts) {
      now += act.wait;
      const [mine, theirs] = [await sides[0].play(act, now), await sides[1].play(act, now)];
      compare(theirs, mine, `the answer to ${act.name} ${JSON.stringify(act.asked)}`);
      compare(await sides[1].readNews(), await sides[0].readNews(), `what ${act.name} tells`);
    }
    const [mine, theirs] = [await readEverything(sides[0], now), await readEverything(sides[1], now)];
    for (const [question, answer] of mine) compare(theirs.get(question), answer, question);
    if (readMore !== undefined)
      compare(await sides[1].read(readMore), await sides[0].read(readMore), 'what else there is');
  });
}

function compare(theirs: unknown, mine: unknown, what: string): void {
  if (isDeepStrictEqual(theirs, mine)) return;
  assert.fail(`${what}: ${JSON.stringify(mine)} here, ${JSON.stringify(theirs)} there`);
}

/** One of the stores, and what the test knows of it. */
class Side implements Known {
  readonly store: Actors;
  readonly ids: string[] = [];
  readonly #comments = new Map<string, string>();
  #told = 0;

  constructor(store: Actors) {
    this.store = store;
  }

  async play(act: Act, now: number): Promise<unknown> {
    const { kind, name } = act.actor;
    const by: Writer = { actor: { kind, name, named: true }, now, ...toConditions(this, act.condition) };
    try {
      return this.#name({ value: await act.run(this, by) });
    } catch (error) {
      if (!isForgeError(error)) throw error;
      const { code, message, hint, details } = error;
      return this.#name({ code, message, hint, details });
    }
  }

  async readNews(): Promise<unknown> {
    const { events, upto } = await this.store.readEvents({ after: this.#told, limit: 1_000 });
    this.#told = upto;
    return this.#name(events.map(({ data, ...event }) => ({ ...event, data: JSON.parse(data) as unknown })));
  }

  async read(ask: (store: Actors) => Promise<unknown>): Promise<unknown> {
    return this.#name(await ask(this.store));
  }

  /** As JSON gives it back, with the names that both sides have for the same task and the same comment. */
  #name(value: unknown): unknown {
    const text = JSON.stringify(value ?? null)
      .replace(/\b(k\d\d)-[0-9a-z]{4,}\b/g, '$1')
      .replace(/\bc-[0-9a-z]{10}\b/g, (id) => {
        const known = this.#comments.get(id) ?? `comment ${this.#comments.size}`;
        this.#comments.set(id, known);
        return known;
      });
    return JSON.parse(text) as unknown;
  }
}

/** Every question that the port has, about every task. */
async function readEverything(side: Side, now: number): Promise<ReadonlyMap<string, unknown>> {
  const found = new Map<string, unknown>();
  const ask = async (question: (store: Actors) => Promise<unknown>): Promise<void> => {
    found.set(`${found.size}: ${String(question)}`, await side.read(question));
  };
  for (const sort of ['priority', 'created', 'updated', 'id'] as const)
    await ask((store) => store.listTasks({ sort, include_archived: true }));
  for (const query of QUERIES) await ask((store) => store.listTasks(query));
  for (const sort of ['priority', 'impact'] as const) {
    await ask((store) => store.listReady({ sort }));
    await ask((store) =>
      store.listReady({ sort, assignee: 'ann', to_hand_out: true, exclude_types: ['bug'] }),
    );
  }
  await ask((store) => store.explainReady({ assignee: 'ann', exclude_types: ['bug'] }));
  await ask((store) => store.listBlocked({ limit: undefined }));
  await ask((store) => store.readStats({ now, exclude_types: ['bug'] }));
  await ask((store) => store.readGraph({ id: undefined, all: true }));
  await ask((store) => store.readGraph({ id: undefined, all: false }));
  await ask((store) => store.listForeign());
  await ask((store) => store.pageTasks({ limit: 4, max_bytes: 1_000_000 }));
  await ask((store) => store.pageReady({ limit: 4, max_bytes: 1_000_000 }));
  await ask(async (store) => (await store.listHeads(side.ids)).toSorted((a, b) => (a.id < b.id ? -1 : 1)));
  await ask((store) => store.listBriefs({ ids: side.ids, max_bytes: 1_000_000 }));
  await ask((store) => store.readFeed().then(({ oldest, newest }) => ({ oldest, newest })));
  await ask((store) => store.readPause());
  await ask((store) => store.newestEvent());
  await ask((store) => store.readKeptWorkflow().then(({ version, digest }) => ({ version, digest })));
  await ask(async (store) => (await store.listOpenWork()).toSorted((a, b) => (a.id < b.id ? -1 : 1)));
  for (const status of ['open', 'in_progress', 'closed'] as const)
    await ask((store) => walk(store, { status, label: 'x', max_rows: 3, max_bytes: 1_000_000 }));
  for (const id of side.ids) {
    await ask(async (store) => (await store.findTask(id)).deleted);
    await ask((store) => store.readHistory({ id, limit: undefined }));
    await ask((store) => store.listNewestComments({ id, limit: 2 }));
    await ask((store) => store.findMove({ id, to_status: 'closed', changes_state: true }));
    await ask((store) => store.findGrant({ id, blocked: 'blocked' }));
    await ask((store) => store.newestEntryOf(id));
    await ask((store) => store.findEntry({ id, type: 'task.claimed', after: 2 }));
    await ask((store) => store.hasNewsOf(id, 5));
    await ask((store) => store.holdsTask(id));
    await ask((store) => store.isWorkedOn(id));
    if ((await side.store.findTask(id)).deleted) await ask((store) => store.readDeleted(id));
    else {
      await ask((store) => store.getTask(id));
      await ask((store) => store.readPlace(id));
      await ask((store) =>
        store.readStanding(id).then((standing) => ({ ...standing, rejections: [...standing.rejections] })),
      );
      await ask((store) => store.listTransitions({ id, limit: 5, changes_state: true }));
      await ask((store) => store.readTree({ id, depth: 3 }));
      await ask((store) => store.readGraph({ id, all: false }));
    }
  }
  return found;
}

const QUERIES: readonly Parameters<TaskStore['listTasks']>[0][] = [
  { text: 'a' },
  { text: 'É' },
  { text: 'ss' },
  { label: 'y', sort: 'updated', limit: 3 },
  { assignee: null, open_only: true },
  { assignee: 'bob' },
  { state: 'todo' },
  { state: 'gone' },
  { status: 'closed', sort: 'created' },
  { parent_id: null, type: 'epic' },
];

/** A whole walk, without the places of its parts. */
async function walk(
  store: TaskStore & EventStore,
  query: Parameters<TaskStore['walkTasks']>[0],
): Promise<unknown[]> {
  const tasks: unknown[] = [];
  for (let after = query.after; ;) {
    const part = await store.walkTasks({ ...query, after });
    tasks.push(...part.tasks);
    if (part.after === undefined) return tasks;
    after = part.after;
  }
}
