import { setImmediate as nextTurn } from 'node:timers/promises';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { toParts } from '#kernel/to-parts.ts';
import { readStoreId } from '#store/store-identity.ts';
import type { BatchTask } from '#sync/batches.ts';
import { findProject } from '#sync/find-project.ts';
import { findProjectOf, prefixOf } from '#sync/foreign-tasks.ts';
import { toRealPlace } from '#sync/forge-home.ts';
import { findRegistered, listProjects, type RegisteredProject } from '#sync/project-registry.ts';
import type { OpenProject, OperationContext } from './operation.ts';

type Opened = OpenProject & AsyncDisposable;

/**
 * Ids to tasks with the project each belongs to: a task of exactly that id in the project around, then the
 * registered project of its prefix, then the project around by a shortened id. Throws not_found and ambiguous_id,
 * and not_a_project for a short id outside of every project.
 */
export async function findBatchTasks(ctx: OperationContext, refs: readonly string[]): Promise<BatchTask[]> {
  await using projects = new OpenedProjects(ctx);
  const tasks: BatchTask[] = [];
  for (const part of toParts(refs, LIMITS.tasks_a_turn)) {
    // A server has others to serve between the parts.
    await nextTurn();
    const whole = await projects.findWhole(part);
    for (const ref of part) tasks.push(whole.get(ref) ?? (await projects.findOne(ref)));
  }
  return tasks;
}

/** Each project is opened once, however many of its tasks are named. */
class OpenedProjects {
  readonly #ctx: OperationContext;
  readonly #opened = new Map<string, Opened>();
  readonly #described = new Map<Opened, Omit<BatchTask, 'id'>>();

  constructor(ctx: OperationContext) {
    this.#ctx = ctx;
  }

  /** Those that are whole ids, in two or three queries for all; what is missing here is for `findOne`. */
  async findWhole(refs: readonly string[]): Promise<ReadonlyMap<string, BatchTask>> {
    const found = new Map<string, BatchTask>();
    const around = await this.#around();
    if (around !== undefined) await this.#lookUp(around, refs, found);
    const rest = refs.filter((ref) => !found.has(ref));
    for (const group of Map.groupBy(rest, (ref) => prefixOf(ref) ?? '').values()) {
      const registered = findProjectOf(group[0] ?? '', this.#ctx.place);
      if (registered === undefined || registered.prefix === around?.config.idPrefix) continue;
      const opened = await this.#openRegistered(registered);
      await this.#lookUp(opened, group, found);
    }
    return found;
  }

  async findOne(ref: string): Promise<BatchTask> {
    const opened = await this.#of(ref);
    const { id } = await opened.store.getTask(ref);
    return { id, ...this.#describe(opened) };
  }

  async #lookUp(opened: Opened, refs: readonly string[], found: Map<string, BatchTask>): Promise<void> {
    const byId = Map.groupBy(refs, (ref) => ref.toLowerCase());
    for (const { id, deleted } of await opened.store.listHeads([...byId.keys()]))
      for (const ref of deleted ? [] : (byId.get(id) ?? []))
        found.set(ref, { id, ...this.#describe(opened) });
  }

  #describe(opened: Opened): Omit<BatchTask, 'id'> {
    const described = this.#described.get(opened) ?? describeProject(opened, this.#ctx);
    this.#described.set(opened, described);
    return described;
  }

  async #of(ref: string): Promise<Opened> {
    const around = await this.#around();
    if (around !== undefined && (await around.store.holdsTask(ref.toLowerCase()))) return around;
    const registered = findProjectOf(ref, this.#ctx.place);
    if (registered !== undefined && registered.prefix !== around?.config.idPrefix)
      return this.#openRegistered(registered);
    if (around !== undefined) return around;
    throw new ForgeError('not_a_project', `Which project does ${ref} belong to?`, {
      hint: 'Give whole ids of registered projects (forge project list), or go to the project',
      details: { id: ref },
    });
  }

  async #around(): Promise<Opened | undefined> {
    const { cwd, place } = this.#ctx;
    try {
      return await this.#open('', () => findProject(cwd, place.env, place.homeDir));
    } catch (error) {
      if (isForgeError(error) && error.code === 'not_a_project') return undefined;
      throw error;
    }
  }

  #openRegistered(registered: RegisteredProject): Promise<Opened> {
    return this.#open(registered.path, () => findRegistered(registered, this.#ctx.place));
  }

  async #open(key: string, find: () => Parameters<OperationContext['openProject']>[0]): Promise<Opened> {
    const known = this.#opened.get(key);
    if (known !== undefined) return known;
    const opened = await this.#ctx.openProject(find());
    this.#opened.set(key, opened);
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const opened of this.#opened.values()) await opened[Symbol.asyncDispose]();
  }
}

/** Its registered name and place, or its own where nobody registered it. */
function describeProject(opened: OpenProject, { place }: OperationContext): Omit<BatchTask, 'id'> {
  const { config, paths } = opened;
  const root = toRealPlace(paths.root);
  const same = listProjects(place.home).find(
    (one) => one.path === root || (one.prefix === config.idPrefix && isSameStore(one.path, opened, place)),
  );
  return { project: same?.name ?? config.name, path: same?.path ?? root };
}

/** A linked worktree is the same project as the working tree that was registered. */
function isSameStore(path: string, { paths }: OpenProject, place: OperationContext['place']): boolean {
  try {
    const other = findProject(path, place.env, place.homeDir);
    return readStoreId(other.paths.store) === readStoreId(paths.store);
  } catch {
    return false;
  }
}
