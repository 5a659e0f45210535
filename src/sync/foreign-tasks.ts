import { setImmediate as nextTurn } from 'node:timers/promises';
import { findPath } from '#domain/graph-paths.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { toParts } from '#kernel/to-parts.ts';
import { openTaskReader, type ReadTask, type TaskReader } from '#store/open-task-reader.ts';
import type { StoreLocation } from '#store/store-location.ts';
import type { ForeignEdge, TaskStore } from '#store/store.ts';
import type { HomePlace } from './forge-home.ts';
import { findRegistered, listProjects, type RegisteredProject } from './project-registry.ts';

/** What is known of a task of another project that something here depends on. */
export type ForeignTask =
  | { readonly outcome: 'found'; readonly project: string; readonly task: ReadTask }
  /** `why` completes "it blocks, because …". */
  | { readonly outcome: 'unknown'; readonly why: string };

export type ForeignTasks = ReadonlyMap<string, ForeignTask>;

/** What can go wrong with writing down what was found; a command that writes itself will say so itself. */
const TOLERATED = ['store_busy', 'read_only', 'permission_denied', 'disk_full'];

/**
 * Asks the other projects' databases, read-only, and writes down which of the tasks are closed. What cannot be
 * found out stays as it was last known: it never throws for another project's troubles.
 */
export async function refreshForeign(
  store: TaskStore,
  edges: readonly ForeignEdge[],
  { place, prefix }: { place: HomePlace; prefix: string },
): Promise<ForeignTasks> {
  const ids = edges.map(({ id }) => id).filter((id) => prefixOf(id) !== prefix);
  const tasks = await lookUpTasks(ids, place);
  const closed = new Map<string, boolean>();
  for (const { id, closed: was } of edges) {
    const found = tasks.get(id);
    if (found?.outcome !== 'found') continue;
    const is = found.task.status === 'closed';
    if (is !== was) closed.set(id, is);
  }
  if (closed.size === 0) return tasks;
  try {
    for (const part of toParts([...closed], LIMITS.tasks_a_turn)) await store.markForeign(new Map(part));
  } catch (error) {
    if (!isForgeError(error) || !TOLERATED.includes(error.code)) throw error;
  }
  return tasks;
}

/** `pb` of `pb-x1y2`, in lower case; undefined for what has no prefix. */
export function prefixOf(ref: string): string | undefined {
  return /^([a-z0-9]{2,4})-/i.exec(ref)?.[1]?.toLowerCase();
}

/** The registered project whose ids begin like this one. */
export function findProjectOf(ref: string, { home, within }: HomePlace): RegisteredProject | undefined {
  const prefix = prefixOf(ref);
  if (prefix === undefined || within?.includes(prefix) === false) return undefined;
  return listProjects(home).find((project) => project.prefix === prefix);
}

/** What a caller may know of them who is limited to some projects. */
export function hideForeign(tasks: ForeignTasks, within: readonly string[] | undefined): ForeignTasks {
  if (within === undefined || tasks.size === 0) return tasks;
  const hidden: ForeignTask = { outcome: 'unknown', why: 'it is in a project that this token is not for' };
  return new Map([...tasks].map(([id, task]) => [id, within.includes(prefixOf(id) ?? '') ? task : hidden]));
}

async function lookUpTasks(ids: readonly string[], place: HomePlace): Promise<ForeignTasks> {
  const byPrefix = Map.groupBy(ids, (id) => prefixOf(id) ?? '');
  const found = new Map<string, ForeignTask>();
  const { projects, why } = listOrWhy(place);
  for (const [prefix, group] of byPrefix) {
    const project = projects.find((one) => one.prefix === prefix);
    const known =
      project === undefined
        ? tellUnknown(group, why ?? `no registered project has ids that begin with ${prefix}-`)
        : await readGroup(project, group, place);
    for (const [id, task] of known) found.set(id, task);
  }
  return found;
}

function listOrWhy({ home }: HomePlace): { projects: RegisteredProject[]; why?: string } {
  try {
    return { projects: listProjects(home) };
  } catch (error) {
    return { projects: [], why: explain(error) };
  }
}

type Known = [string, ForeignTask][];

function tellUnknown(ids: readonly string[], why: string): Known {
  return ids.map((id) => [id, { outcome: 'unknown', why }]);
}

/** A part at a time, with other work in between: the edges come from a repository, and may be many. */
async function readGroup(
  project: RegisteredProject,
  ids: readonly string[],
  place: HomePlace,
): Promise<Known> {
  try {
    using reader = openTaskReader(findRegistered(project, place).paths.store);
    const known: Known = [];
    for (const part of toParts(ids, LIMITS.tasks_a_turn)) {
      if (known.length > 0) await nextTurn();
      const tasks = reader.findTasks(part);
      for (const id of part) {
        const task = tasks.get(id);
        if (task === undefined) known.push(...tellUnknown([id], `project ${project.name} has no such task`));
        else known.push([id, { outcome: 'found', project: project.name, task }]);
      }
    }
    return known;
  } catch (error) {
    // Whatever it is (gone, damaged, not permitted), it is the other project's and must not stop this one.
    return tellUnknown(ids, explain(error));
  }
}

function explain(error: unknown): string {
  return isForgeError(error) ? error.message : `its project cannot be read (${String(error)})`;
}

/**
 * Throws dependency_cycle where `to`, a task of another project, waits for `from` by way of any registered projects.
 * `own` is the store of this project, `prefix` its own. Projects that cannot be read end the walk.
 */
export function refuseForeignCycle(
  edge: { from_id: string; to_id: string },
  { own, prefix, place }: { own: StoreLocation; prefix: string; place: HomePlace },
): void {
  const readers = new Map<string, TaskReader | undefined>();
  const readerOf = (id: string): TaskReader | undefined => {
    const key = prefixOf(id) ?? prefix;
    if (!readers.has(key)) readers.set(key, tryOpen(id, key === prefix ? own : undefined, place));
    return readers.get(key);
  };
  try {
    const path = findPath(edge.to_id, edge.from_id, (id) => readerOf(id)?.listBlockers(id) ?? []);
    if (path === undefined) return;
    const cycle = [edge.from_id, ...path];
    throw new ForgeError('dependency_cycle', `That would close a cycle: ${cycle.join(' -> ')}`, {
      hint: `forge dep tree ${edge.to_id}`,
      details: { path: cycle },
    });
  } finally {
    for (const reader of readers.values()) reader?.[Symbol.dispose]();
  }
}

function tryOpen(id: string, own: StoreLocation | undefined, place: HomePlace): TaskReader | undefined {
  try {
    const project = own === undefined ? findProjectOf(id, place) : undefined;
    const store = own ?? (project && findRegistered(project, place).paths.store);
    return store === undefined ? undefined : openTaskReader(store);
  } catch {
    return undefined;
  }
}
