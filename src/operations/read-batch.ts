import type { OutputOf } from '#contract/declare.ts';
import type { showBatch } from '#contract/home-operations.ts';
import { isForgeError } from '#kernel/errors.ts';
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
  const { name, created_at, closed_at } = batch;
  const rows = new Map<BatchTask, Row>();
  for (const group of Map.groupBy(batch.tasks, (task) => task.path).values())
    for (const [task, row] of await readGroup(ctx, group)) rows.set(task, row);
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

async function readGroup(ctx: OperationContext, tasks: readonly BatchTask[]): Promise<[BatchTask, Row][]> {
  const missing = (task: BatchTask, problem: string): [BatchTask, Row] => [
    task,
    { ...plain(task), title: null, status: null, assignee: null, problem },
  ];
  const rows: [BatchTask, Row][] = [];
  try {
    await using project = await ctx.openProject(findNow(ctx, tasks));
    for (const task of tasks) {
      if (!(await project.store.holdsTask(task.id))) {
        rows.push(missing(task, 'not in this project any more'));
        continue;
      }
      try {
        const { title, status, assignee } = await project.store.getTask(task.id);
        rows.push([task, { ...plain(task), title, status, assignee, problem: null }]);
      } catch (error) {
        if (!isForgeError(error) || error.code !== 'not_found') throw error;
        rows.push(missing(task, 'deleted'));
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
