import { ForgeError } from '#kernel/errors.ts';
import type { OpenProject } from '#operations/operation.ts';
import type { FoundProject } from '#sync/find-project.ts';
import { findProjectOf, prefixOf } from '#sync/foreign-tasks.ts';
import type { HomePlace } from '#sync/forge-home.ts';
import { findRegistered } from '#sync/project-registry.ts';

/**
 * The project that an id with another prefix than the one around belongs to. A task of exactly that id here wins,
 * because ids may have been imported; an id of no registered project is left to the project around. `here` is the
 * error of whoever is outside of every project, thrown where the id leads nowhere either.
 */
export async function routeProject(
  ref: string,
  here: FoundProject | ForgeError,
  {
    place,
    open,
  }: {
    readonly place: HomePlace;
    readonly open: (found: FoundProject) => Promise<OpenProject & AsyncDisposable>;
  },
): Promise<OpenProject> {
  if (here instanceof ForgeError) {
    const registered = findProjectOf(ref, place);
    if (registered === undefined) throw here;
    return open(findRegistered(registered, place));
  }
  const around = await open(here);
  try {
    if (await isAtHome(ref, around)) return around;
    const registered = findProjectOf(ref, place);
    if (registered === undefined) return around;
    const other = await open(findRegistered(registered, place));
    await around[Symbol.asyncDispose]();
    return other;
  } catch (error) {
    await around[Symbol.asyncDispose]();
    throw error;
  }
}

async function isAtHome(ref: string, { config, store }: OpenProject): Promise<boolean> {
  const prefix = prefixOf(ref);
  // Typed in capitals it is still this project's own.
  return prefix === undefined || prefix === config.idPrefix || (await store.holdsTask(ref.toLowerCase()));
}
