import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OutputOf } from '#contract/declare.ts';
import type { showBatch } from '#contract/home-operations.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { toParts } from '#kernel/to-parts.ts';
import type { Batch, BatchTask } from '#sync/batches.ts';
import { findProject, type FoundProject } from '#sync/find-project.ts';
import { findProjectOf } from '#sync/foreign-tasks.ts';
import { toRealPlace } from '#sync/forge-home.ts';
import { findRegistered, listProjects } from '#sync/project-registry.ts';
import type { OperationContext } from './operation.ts';

type View = OutputOf<typeof showBatch>;
type Row = View['tasks'][number];

/** A batch with what each of its tasks is now. A project or task that is not there is said, never thrown. */
export async function readBatch(ctx: OperationContext, batch: Batch): Promise<View> {
  return toView(batch, await readRows(ctx, [batch]));
}

/** The same of several, without their tasks: each project is opened once for all of them. */
export async function readBatches(
  ctx: OperationContext,
  batches: readonly Batch[],
): Promise<Omit<View, 'tasks'>[]> {
  const rows = await readRows(ctx, batches);
  return batches.map((batch) => {
    const { tasks: _tasks, ...row } = toView(batch, rows);
    return row;
  });
}

function toView(batch: Batch, rows: ReadonlyMap<BatchTask, Row>): View {
  const { name, created_at, closed_at } = batch;
  const tasks = batch.tasks.flatMap((task) => rows.get(task) ?? []);
  const count = (status: Row['status']): number => tasks.filter((task) => task.status === status).length;
  const counts = {
    total: tasks.length,
    open: count('open'),
    in_progress: count('in_progress'),
    closed: count('closed'),
    missing: count(null),
  };
  // Nothing to do is not the same as everything done.
  return {
    name,
    created_at,
    closed_at,
    done: tasks.length > 0 && counts.closed === tasks.length,
    counts,
    tasks,
  };
}

async function readRows(
  ctx: OperationContext,
  batches: readonly Batch[],
): Promise<ReadonlyMap<BatchTask, Row>> {
  const rows = new Map<BatchTask, Row>();
  const all = batches.flatMap(({ tasks }) => tasks);
  for (const group of Map.groupBy(all, (task) => task.path).values())
    for (const [task, row] of await readGroup(ctx, group)) rows.set(task, row);
  return rows;
}

/** A part at a time: batches of a server may have tens of thousands of tasks, and others are served in between. */
async function readGroup(ctx: OperationContext, tasks: readonly BatchTask[]): Promise<[BatchTask, Row][]> {
  const missing = (task: BatchTask, problem: string): [BatchTask, Row] => [
    task,
    { ...plain(task), title: null, status: null, assignee: null, problem },
  ];
  const rows: [BatchTask, Row][] = [];
  try {
    await using project = await ctx.openProject(findNow(ctx, tasks));
    for (const part of toParts(tasks, LIMITS.tasks_a_turn)) {
      await nextTurn();
      const heads = await project.store.listHeads(part.map(({ id }) => id));
      const known = new Map(heads.map((head) => [head.id, head]));
      for (const task of part) {
        const head = known.get(task.id);
        if (head === undefined) rows.push(missing(task, 'not in this project any more'));
        else if (head.deleted) rows.push(missing(task, 'deleted'));
        else {
          const { title, status, assignee } = head;
          rows.push([task, { ...plain(task), title, status, assignee, problem: null }]);
        }
      }
    }
    return rows;
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return tasks.map((task) => missing(task, error.message));
  }
}

/** Where the project is now: where it was, or where it has been registered since. */
function findNow({ place }: OperationContext, [task]: readonly BatchTask[]): FoundProject {
  const { id = '', path = '', project = '' } = task ?? {};
  const there = tryFind(() => findProject(path, place.env, place.homeDir));
  if (there !== undefined && toRealPlace(there.paths.root) === path) return there;
  const registered = findProjectOf(id, place) ?? listProjects(place.home).find((one) => one.name === project);
  if (registered !== undefined) return findRegistered(registered, place);
  return findRegistered({ name: project, path, prefix: id.slice(0, id.indexOf('-')), added_at: '' }, place);
}

function tryFind(find: () => FoundProject): FoundProject | undefined {
  try {
    return find();
  } catch (error) {
    if (isForgeError(error)) return undefined;
    throw error;
  }
}

/** `2 of 3 closed, 1 open`, or `done: …`. */
export function countsText({ counts, done }: Pick<View, 'counts' | 'done'>): string {
  if (counts.total === 0) return 'no tasks yet';
  const rest = [
    [counts.in_progress, 'in progress'],
    [counts.open, 'open'],
    [counts.missing, 'missing'],
  ] as const;
  const parts = rest.flatMap(([n, word]) => (n === 0 ? [] : [`${n} ${word}`]));
  return `${done ? 'done: ' : ''}${[`${counts.closed} of ${counts.total} closed`, ...parts].join(', ')}`;
}

/** What the surface shows of a batch. */
export function plainBatch({ name, tasks, created_at, closed_at }: Batch): Omit<Batch, 'tasks'> & {
  tasks: BatchTask[];
} {
  return { name, created_at, closed_at, tasks: tasks.map(plain) };
}

/** Without the keys that others put into the line. */
function plain({ id, project, path }: BatchTask): BatchTask {
  return { id, project, path };
}
