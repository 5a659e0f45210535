// A process of its own with the store open, for races and crashes: `node store-worker.ts <folder> <work> [more]`.
// It says `ready`, waits for a line, works, and prints a line of JSON for everything that was acknowledged.
import { NO_AGENTS } from '#domain/claimer.ts';
import { readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { systemClock } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import { holdWhileMending } from '#app/hold-while-mending.ts';
import { openStore, type Store } from '#store/open-store.ts';
import type { NewTaskInput, TaskStore, Writer } from '#store/store.ts';

const [folder = '.', work = '', ...more] = process.argv.slice(2);

const WORKS: Readonly<Record<string, () => Promise<void>>> = {
  /** Opens the store and tells how many tasks it sees. */
  open: () => withStore(async (store) => say({ tasks: (await store.listTasks({})).length })),
  create: () => withStore((store) => createTasks(store, Number(more[0] ?? 1))),
  claim: () => withStore((store) => claimAll(store, `worker-${process.pid}`)),
  'claim and create': () =>
    withStore(async (store) => {
      const task = await store.claimNext({ assignee: `worker-${process.pid}`, agents: NO_AGENTS }, writer());
      if (task !== undefined) say({ claimed: task.id });
      await createTasks(store, 1);
    }),
  hold: () => holdLock(Number(more[0] ?? 0)),
  churn: () => withStore((store) => churn(store)),
  'update once': () => withStore((store) => updateOnce(store, more[0] ?? '', Number(more[1] ?? 1))),
  fill: () => fillDisk(),
  'take merge': () => withStore((store) => takeMerge(store, more[0] ?? '')),
  messages: () => withStore((store) => addMessages(store, more[0] ?? '', Number(more[1] ?? 1))),
  /** Opens the store and tells what it sees of attempts. */
  attempts: () =>
    withStore(async (store) =>
      say({
        attempts: (await store.listAttempts({})).length,
        open_runs: (await store.listOpenRuns()).length,
      }),
    ),
  'watch stats': () => withStore((store) => watchStats(store, Number(more[0] ?? 0))),
};

say('ready');
const input = createInterface({ input: process.stdin });
for await (const _line of input) break;
input.close();
process.stdin.destroy();
try {
  await WORKS[work]?.();
} catch (error) {
  say({ error: isForgeError(error) ? error.code : String(error) });
  process.exitCode = 1;
}

async function withStore(use: (store: Store) => Promise<void>): Promise<void> {
  const timeout = process.env['LOCK_TIMEOUT_MS'];
  await using store = await openStore(
    { folder },
    {
      clock: systemClock,
      lock_timeout_ms: timeout === undefined ? undefined : Number(timeout),
      hold: holdWhileMending,
    },
  );
  await use(store);
}

async function createTasks(store: TaskStore, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const { id } = await store.createTask(newTask(`${process.pid}-${i}`), writer());
    say({ created: id });
  }
}

async function claimAll(store: TaskStore, assignee: string): Promise<void> {
  for (;;) {
    const task = await store.claimNext({ assignee, agents: NO_AGENTS }, writer());
    if (task === undefined) return;
    say({ claimed: task.id });
  }
}

async function holdLock(ms: number): Promise<void> {
  const db = new DatabaseSync(join(folder, 'forge.db'), { timeout: 10_000 });
  db.exec('BEGIN IMMEDIATE');
  say({ held: true });
  await new Promise((resolve) => setTimeout(resolve, ms));
  db.exec('COMMIT');
  db.close();
}

/** Every kind of write on the tasks of crash.test.ts and on new ones, until somebody kills it. */
async function churn(store: TaskStore): Promise<never> {
  // Several that churn at once have names of their own for their tasks.
  const [counter = '', toggle = '', name = ''] = more;
  const start = (await store.getTask(counter)).metadata['n'];
  for (let n = Number(start) + 1; ; n += 1) {
    await updateOnce(store, counter, n);
    const { status } = await store.getTask(toggle);
    if (status === 'closed') await store.reopenTask({ id: toggle, reason: null }, writer());
    else await store.closeTask({ id: toggle, reason: `closed ${n}` }, writer());
    say({ toggled: n });
    const parent = await store.createTask(newTask(`parent ${name}${n}`), writer());
    const child = await store.createTask({ ...newTask(`child ${name}${n}`), parent_id: parent.id }, writer());
    say({ created: child.id });
    const waiting = await store.createTask(
      { ...newTask(`waits ${name}${n}`), depends_on: [parent.id] },
      writer(),
    );
    say({ created: waiting.id });
    await store.deleteTask({ id: parent.id }, writer());
    say({ deleted: parent.id });
  }
}

/** One update of many fields, all of which say the same number. */
async function updateOnce(store: TaskStore, id: string, n: number): Promise<void> {
  const fields = { title: `n ${n}`, description: `n ${n}`, github_issue: n + 1, priority: n % 5 };
  const labels = { labels_add: [`n${n}`], labels_remove: [`n${n - 1}`] };
  await store.updateTask({ id, ...fields, ...labels, metadata_set: new Map([['n', n]]) }, writer());
  say({ updated: n });
}

/** Creates until the disk is full, then looks at what is there with a store that was opened anew. */
async function fillDisk(): Promise<void> {
  const created: string[] = [];
  await withStore(async (store) => {
    for (;;) {
      const task = await store.createTask({ ...newTask('big'), description: 'x'.repeat(5_000) }, writer());
      created.push(task.id);
    }
  }).catch((error: unknown) => say({ error: isForgeError(error) ? error.code : String(error) }));
  await withStore(async (store) => {
    const found = new Set((await store.listTasks({})).map(({ id }) => id));
    const lines = readFileSync(join(folder, 'tasks.jsonl'), 'utf8').split('\n').length - 1;
    say({
      created: created.length,
      lost: created.filter((id) => !found.has(id)).length,
      found: found.size,
      lines,
    });
  });
}

/** Counts that were read together have to fit together. */
async function watchStats(store: TaskStore, ms: number): Promise<void> {
  let looks = 0;
  for (const end = Date.now() + ms; Date.now() < end; looks += 1) {
    const stats = await store.readStats({ now: Date.now(), exclude_types: [] });
    const sum = Object.values(stats.by_status).reduce((total, count) => total + count, 0);
    if (sum !== stats.total) say({ torn: stats });
    const { nodes, edges } = await store.readGraph({ id: undefined, all: true });
    const waiting = new Set(edges.map(({ from_id }) => from_id));
    for (const node of nodes) {
      const held = node.status === 'open' && node.assignee === null && !node.ready;
      if (held && !waiting.has(node.id)) say({ torn: node });
    }
  }
  say({ looks });
}

async function takeMerge(store: Store, id: string): Promise<void> {
  const watcher = { host: 'here', boot_id: 'b', pid_namespace: 'p', pid: process.pid, start_time: 1 };
  const merge = await store.takeMerge({ id, watcher }, writer());
  say({ taken: merge !== undefined });
}

async function addMessages(store: Store, attempt_id: string, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    await store.addMessage({ attempt_id, body: `${process.pid}-${at}` }, writer());
    say({ added: at });
  }
}

function newTask(title: string): NewTaskInput {
  return {
    id_prefix: 'fg',
    title,
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
  };
}

function writer(): Writer {
  return { actor: { kind: 'agent', name: `worker-${process.pid}`, named: true }, now: Date.now() };
}

/** Written at once: what a killed process has said, it has said. */
function say(what: unknown): void {
  writeSync(1, `${JSON.stringify(what)}\n`);
}
