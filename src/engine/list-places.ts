import { isForgeError } from '#kernel/errors.ts';
import { readStoreId } from '#store/store-identity.ts';
import { findProject, type FoundProject } from '#sync/find-project.ts';
import type { HomePlace } from '#sync/forge-home.ts';
import { findRegistered, listProjects } from '#sync/project-registry.ts';

export interface Around {
  readonly place: HomePlace;
  readonly cwd: string;
}

/** The project around, those of the home, and those at these paths; each once. One that is not there is left out. */
export function listPlaces({ place, cwd }: Around, paths: readonly string[] = []): FoundProject[] {
  const { env, homeDir } = place;
  const found = [
    () => findProject(cwd, env, homeDir),
    ...listProjects(place.home).map((project) => () => findRegistered(project, place)),
    ...paths.map((path) => () => findProject(path, env, homeDir)),
  ].flatMap(tryFind);
  return [...new Map(found.map((one) => [readStoreId(one.paths.store), one])).values()];
}

function tryFind(find: () => FoundProject): FoundProject[] {
  try {
    return [find()];
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return [];
  }
}
