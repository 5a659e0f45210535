import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Attempt, Run } from '#contract/attempt.ts';
import type { OutputOf } from '#contract/declare.ts';
import type { Task } from '#contract/task.ts';
import type { whereAmI as declaration } from '#contract/workspace-operations.ts';
import { parseAttemptName } from '#domain/attempt-names.ts';
import { isEnded } from '#domain/run-states.ts';
import { ignoreGone } from '#engine/find-standing.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import type { AttemptStore } from '#store/attempt-store.ts';
import { readStoreId } from '#store/store-identity.ts';
import type { FoundProject } from '#sync/find-project.ts';
import { findWish } from '#sync/find-wish.ts';
import { locateWork } from '#sync/locate-work.ts';
import { findRegistered, listProjects } from '#sync/project-registry.ts';
import { implement, type OpenProject, type OperationContext } from './operation.ts';
import { SHORT_ID, stateOf } from './run-text.ts';

type Place = OutputOf<typeof declaration>;

export const whereami = implement<typeof declaration>({
  async run(ctx, { place }) {
    const folder = findFolder(ctx.cwd, place);
    return folder === undefined ? lookByName(ctx, place ?? '') : lookAtFolder(ctx, folder);
  },
  text({ project, task, deleted_task, attempt, run, github_issue, wish }) {
    const rows: readonly (readonly [string, string])[] = [
      ['Project', `${project.name} (${project.prefix}), ${project.path}`],
      ['Task', deleted_task === null ? '' : `${deleted_task} (deleted; forge task restore ${deleted_task})`],
      ['Task', task === null ? '' : `${task.id} (${task.state}): ${task.title}`],
      ['Attempt', attempt === null ? '' : `${attempt.id} (${attempt.state}), ${attempt.path}`],
      ['Branch', attempt?.branch ?? ''],
      [
        'Run',
        run === null ? '' : `${run.id.slice(0, SHORT_ID)} by ${run.agent} (${run.role}): ${stateOf(run)}`,
      ],
      ['Issue', github_issue === null ? '' : `#${github_issue}`],
      ['Wish', wish ?? ''],
    ];
    return rows
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `${name.padEnd(8)} ${escapeLine(value)}`)
      .join('\n');
  },
});

/** Undefined for what is no path: the name of a branch. */
function findFolder(cwd: string, place: string | undefined): string | undefined {
  if (place === undefined) return cwd;
  const path = resolve(cwd, place);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  return found.isDirectory() ? path : dirname(path);
}

async function lookAtFolder(ctx: OperationContext, folder: string): Promise<Place> {
  const { found, worktree, attempt_id, branch } = locateWork(folder, ctx.place);
  await using project = await ctx.openProject(found);
  const attempt =
    attempt_id === undefined
      ? await findByName(project.store, branch ?? '')
      : await findById(project.store, attempt_id);
  return await describe(project, attempt, [worktree, found.paths.root]);
}

/** In the project around, else in every one that is registered: the name says nothing of it. */
async function lookByName(ctx: OperationContext, name: string): Promise<Place> {
  for (const found of listCandidates(ctx)) {
    await using project = await ctx.openProject(found);
    const attempt = await findByName(project.store, name);
    if (attempt !== undefined) return await describe(project, attempt, [attempt.path, found.paths.root]);
  }
  throw new ForgeError('not_found', `${JSON.stringify(name)} is no path, and no branch of an attempt`, {
    hint: 'forge workspace list',
    details: { place: name },
  });
}

function listCandidates({ cwd, place }: OperationContext): readonly FoundProject[] {
  const around = tryFind(() => locateWork(cwd, place).found);
  const registered = listProjects(place.home).map((one) => tryFind(() => findRegistered(one, place)));
  const all = [around, ...registered].filter((one) => one !== undefined);
  const byStore = Map.groupBy(all, ({ paths }) => readStoreId(paths.store));
  return [...byStore.values()].flatMap(([first]) => first ?? []);
}

function tryFind(find: () => FoundProject): FoundProject | undefined {
  try {
    return find();
  } catch (error) {
    if (isForgeError(error)) return undefined;
    throw error;
  }
}

/** `forge/35a4-…`, with or without what git puts before it. */
async function findByName(store: AttemptStore, text: string): Promise<Attempt | undefined> {
  const name = parseAttemptName(text.replace(/^refs\/heads\//, ''));
  return name === undefined ? undefined : (await store.listAttempts({ name })).at(-1);
}

/** A worktree without a task has no row. */
async function findById(store: AttemptStore, id: string): Promise<Attempt | undefined> {
  try {
    return await store.getAttempt(id);
  } catch (error) {
    if (isForgeError(error) && error.code === 'not_found') return undefined;
    throw error;
  }
}

async function describe(
  { paths, config, store }: OpenProject,
  attempt: Attempt | undefined,
  folders: readonly string[],
): Promise<Place> {
  const project = { name: config.name, prefix: config.idPrefix, path: paths.root };
  const nothing = {
    task: null,
    deleted_task: null,
    attempt: null,
    run: null,
    github_issue: null,
    wish: null,
  };
  if (attempt === undefined) return { project, ...nothing };
  // What is left of a deleted task can still be told.
  const task = await store.getTask(attempt.task_id).catch(ignoreGone);
  const run = pickRun(await store.listRuns({ attempt_id: attempt.id }));
  const wish = findWish(folders, { name: attempt.name, title: task?.title ?? '' });
  return {
    project,
    task: task === undefined ? null : toShownTask(task),
    deleted_task: task === undefined ? attempt.task_id : null,
    attempt: toShownAttempt(attempt),
    run: run === undefined ? null : toShownRun(run),
    github_issue: task?.github_issue ?? wish?.github_issue ?? null,
    wish: wish?.slug ?? null,
  };
}

function pickRun(runs: readonly Run[]): Run | undefined {
  return runs.findLast(({ state }) => !isEnded(state)) ?? runs.at(-1);
}

function toShownTask({ id, title, status, state }: Task): NonNullable<Place['task']> {
  return { id, title, status, state };
}

function toShownAttempt({ id, name, branch, path, state }: Attempt): NonNullable<Place['attempt']> {
  return { id, name, branch, path, state };
}

function toShownRun({ id, agent, role, state, outcome }: Run): NonNullable<Place['run']> {
  return { id, agent, role, state, outcome };
}
