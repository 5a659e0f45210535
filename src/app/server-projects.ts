import { existsSync, statSync } from 'node:fs';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { reaches } from '#access/caller.ts';
import { readStoreId } from '#store/store-identity.ts';
import { findProject, type FoundProject } from '#sync/find-project.ts';
import { prefixOf } from '#sync/foreign-tasks.ts';
import type { HomePlace } from '#sync/forge-home.ts';
import { findRegistered, hasOtherPrefix, listProjects, toProjectPlace } from '#sync/project-registry.ts';
import { ProjectIdentities, tellTaken } from './project-identities.ts';
import { ServerProject, type ProjectSurroundings } from './serve/server-project.ts';
import { findByWork, type WorkName } from './work-refs.ts';

/** Which projects a server is about. */
export interface ProjectWishes {
  /** Folders given on the command line: these, and no others. */
  readonly paths: readonly string[];
  /** Without any: the project around here, and all that are registered in the home. */
  readonly cwd: string;
}

/** What a call says about the project it means. */
export interface ProjectRef {
  /** Prefixes of the only projects that may be found; undefined for all. */
  readonly within?: readonly string[] | undefined;
  /** A prefix or a name. */
  readonly project?: string | undefined;
  /** A task's id. */
  readonly route?: string | undefined;
  readonly work?: WorkName | undefined;
}

/** The projects of one server, opened once and kept open. */
export interface ServerProjects extends AsyncDisposable {
  /** In order: the one around first, then as they were registered. */
  list(): readonly ServerProject[];
  /** Throws not_found for an unknown one, and invalid_input where several could be meant. */
  find(ref: ProjectRef): Promise<ServerProject>;
  /** Follows what others did: projects registered or gone, task files and databases replaced. About once a second. */
  refresh(): Promise<void>;
}

/**
 * Opens them all. A folder that was named and is no project is an error; a registered one that cannot be opened is
 * told, and tried again with every refresh.
 */
export async function openServerProjects(
  wishes: ProjectWishes,
  around: ProjectSurroundings,
): Promise<ServerProjects> {
  let projects: readonly ServerProject[] = [];
  const told = new Set<string>();
  const tellOnce = (line: string): void => {
    if (told.has(line)) return;
    told.add(line);
    around.notice(line);
  };
  let faults: readonly ProjectFault[] = [];
  const opened = new Map<string, ServerProject>();
  const identities = new ProjectIdentities();
  const refresh = async (isFirst: boolean): Promise<void> => {
    const faulty: ProjectFault[] = [];
    const kept: ServerProject[] = [];
    const note = ({ from, ...fault }: ProjectFault & { readonly from: string }): void => {
      tellOnce(fault.error.message);
      const known = isKept(fault.error) ? opened.get(from) : undefined;
      faulty.push(known === undefined ? fault : { ...fault, prefix: known.prefix, name: known.name });
      // Its agents are at work, and the writer of a config may be in the middle of it.
      if (known !== undefined && !kept.includes(known)) kept.push(known);
    };
    for (const { found, store_id, name, from } of listWanted(wishes, around.place, {
      identities,
      note,
      isFirst,
    })) {
      const known = projects.find((one) => one.isOf(found, store_id));
      const mustOpen = isFirst && wishes.paths.length > 0;
      const project = known ?? (await tryOpen(found, name, around, tellOnce, mustOpen));
      if (isForgeError(project)) {
        faulty.push({ name, prefix: found.config.idPrefix, error: project });
        continue;
      }
      const error = known === undefined ? undefined : await tryFollow(known, found);
      if (error !== undefined) {
        note({ from, name, error });
        continue;
      }
      project.rename(name);
      identities.hold(project.found, project.store_id);
      opened.set(from, project);
      kept.push(project);
    }
    const gone = projects.filter((project) => !kept.includes(project));
    for (const [from, project] of opened) if (gone.includes(project)) opened.delete(from);
    projects = kept;
    faults = faulty;
    for (const project of gone) await project[Symbol.asyncDispose]();
    // Not waited for: what one has to read must not keep the others back.
    for (const project of kept) project.keepUp().catch(() => undefined);
  };
  await refresh(true);
  return {
    list: () => projects,
    find: (ref) => findSound(projects, faults, ref),
    refresh: () => refresh(false),
    async [Symbol.asyncDispose]() {
      const all = projects;
      projects = [];
      for (const project of all) await project[Symbol.asyncDispose]();
    },
  };
}

/** What is wrong with a config that the project would take over. */
async function tryFollow(project: ServerProject, found: FoundProject): Promise<ForgeError | undefined> {
  try {
    await project.follow(found);
    return undefined;
  } catch (error) {
    if (isForgeError(error)) return error;
    throw error;
  }
}

interface Wanted {
  readonly found: FoundProject;
  readonly store_id: string;
  readonly name: string;
  /** The folder that was wanted: what stays the same while nothing can be read there. */
  readonly from: string;
}

/** A project that is wanted and cannot be used, with what is wrong. */
interface ProjectFault {
  readonly name: string;
  readonly prefix?: string | undefined;
  readonly error: ForgeError;
}

interface WantedNotes {
  readonly identities: ProjectIdentities;
  readonly note: (fault: ProjectFault & { readonly from: string }) => void;
  /** Then nothing is served yet, and what a person named has to be there. */
  readonly isFirst: boolean;
}

/** A file that a person has to correct; not a project that is gone. */
function isConfigFault({ code }: ForgeError): boolean {
  return code === 'invalid_input' || code === 'schema_newer';
}

/** Whether a project that was open stays so: what is at work in it goes on until a person has decided. */
function isKept(error: ForgeError): boolean {
  return isConfigFault(error) || hasOtherPrefix(error);
}

function listWanted(wishes: ProjectWishes, place: HomePlace, notes: WantedNotes): Wanted[] {
  const { env, homeDir } = place;
  const { identities, note, isFirst } = notes;
  const look = (from: string): Wanted[] => {
    try {
      const found = findProject(from, env, homeDir);
      return [{ found, store_id: readStoreId(found.paths.store), name: found.config.name, from }];
    } catch (error) {
      if (isFirst || !isForgeError(error)) throw error;
      if (wishes.paths.length === 0 && !isConfigFault(error)) throw error;
      note({ from, name: from, error });
      return [];
    }
  };
  const isItself = ({ found, store_id, from }: Wanted): boolean => {
    const error = identities.findFault(found, store_id);
    // By its place alone: its config names the project as it likes, also like another one.
    if (error !== undefined) note({ from, name: from, prefix: identities.prefixOf(store_id), error });
    return error === undefined;
  };
  if (wishes.paths.length > 0) {
    const given = wishes.paths.flatMap(look).filter(isItself);
    const clash = isFirst ? findClash(given) : undefined;
    if (clash !== undefined) throw refuseClash(clash);
    return dropClashes(given, note);
  }
  const all = listProjects(place.home);
  const registered = all.flatMap((project) => {
    const { name, prefix, path: from } = project;
    try {
      const found = findRegistered(project, place);
      return [{ found, store_id: readStoreId(found.paths.store), name, from }];
    } catch (error) {
      if (!isForgeError(error)) throw error;
      note({ from, name, prefix, error });
      return [];
    }
  });
  const [around] = findAround(() => look(wishes.cwd));
  if (around === undefined) return dropClashes(registered, note);
  const named = registered.find(({ store_id }) => store_id === around.store_id);
  if (named !== undefined) return dropClashes([named, ...registered], note);
  const { idPrefix } = around.found.config;
  const here = toProjectPlace(around.found);
  // Registered with another prefix: what is wrong with it was noted above.
  const isNoted = all.some(({ path, prefix }) => path === here && prefix !== idPrefix);
  if (isNoted || !isItself(around)) return dropClashes(registered, note);
  const holder = all.find(({ path, prefix }) => prefix === idPrefix && path !== here && existsSync(path));
  if (holder === undefined) return dropClashes([around, ...registered], note);
  const error = tellTaken(around.found, `of project ${holder.name} (${holder.path})`);
  note({ from: around.from, name: around.from, error });
  return dropClashes(registered, note);
}

/** Each place once, and of two with one prefix the first: a registry that was edited by hand can have such. */
function dropClashes(wanted: readonly Wanted[], note: WantedNotes['note']): Wanted[] {
  const all = dropSame(wanted);
  return all.filter((one, at) => {
    const before = all.slice(0, at).find(({ found }) => found.config.idPrefix === one.found.config.idPrefix);
    if (before === undefined) return true;
    note({ from: one.from, name: one.from, error: tellTaken(one.found, `of ${before.found.paths.root}`) });
    return false;
  });
}

function findAround(look: () => Wanted[]): Wanted[] {
  try {
    return look();
  } catch (error) {
    if (isForgeError(error) && error.code === 'not_a_project') return [];
    throw error;
  }
}

function dropSame(all: readonly Wanted[]): Wanted[] {
  return [...Map.groupBy(all, ({ store_id }) => store_id).values()].flatMap(([first]) => first ?? []);
}

function findClash(all: readonly Wanted[]): [Wanted, Wanted] | undefined {
  for (const [at, one] of all.entries()) {
    const other = all
      .slice(0, at)
      .find(
        ({ found, store_id }) =>
          found.config.idPrefix === one.found.config.idPrefix && store_id !== one.store_id,
      );
    if (other !== undefined) return [other, one];
  }
  return undefined;
}

function refuseClash([one, other]: [Wanted, Wanted]): ForgeError {
  return new ForgeError(
    'already_exists',
    `Ids that begin with ${one.found.config.idPrefix}- are those of ${one.found.paths.root} and of ${other.found.paths.root}`,
    { hint: 'Serve them one by one, or give one of them another idPrefix' },
  );
}

async function tryOpen(
  found: FoundProject,
  name: string,
  around: ProjectSurroundings,
  tell: (line: string) => void,
  mustOpen: boolean,
): Promise<ServerProject | ForgeError> {
  try {
    // A folder that is gone by now would be made anew by opening its database.
    statSync(found.paths.common_dir);
    return await ServerProject.open(found, name, around);
  } catch (error) {
    if (mustOpen || !isForgeError(error)) throw error;
    tell(`Project ${name} (${found.paths.root}) cannot be opened: ${error.message}`);
    return error;
  }
}

/** The project that is meant; where it cannot be used, what is wrong with it and with which file. */
async function findSound(
  projects: readonly ServerProject[],
  faults: readonly ProjectFault[],
  ref: ProjectRef,
): Promise<ServerProject> {
  const known = faults.filter(
    ({ prefix }) =>
      ref.within === undefined || (prefix !== undefined && reaches({ projects: ref.within }, prefix)),
  );
  const wanted = ref.project ?? (ref.route === undefined ? undefined : prefixOf(ref.route));
  const fault = wanted === undefined ? undefined : findFault(known, projects, wanted);
  if (fault !== undefined) throw toFaultError(fault);
  const [only, ...more] = known;
  if (projects.length === 0 && only !== undefined && more.length === 0) throw toFaultError(only);
  const found = await findOne(projects, ref);
  const own = known.find(({ prefix }) => prefix === found.prefix);
  if (own !== undefined) throw toFaultError(own);
  return found;
}

/** A name comes from a file of the project: it must not stand in the way of another one's prefix. */
function findFault(
  faults: readonly ProjectFault[],
  projects: readonly ServerProject[],
  wanted: string,
): ProjectFault | undefined {
  const byPrefix = faults.find(({ prefix }) => prefix === wanted);
  if (byPrefix !== undefined || projects.some(({ prefix }) => prefix === wanted)) return byPrefix;
  return faults.find(({ name }) => name === wanted);
}

function toFaultError({ name, error }: ProjectFault): ForgeError {
  const { code, message, hint, details, cause } = error;
  const told = message.includes(name) ? message : `Project ${name} cannot be used: ${message}`;
  return new ForgeError(code, told, { ...(hint !== undefined && { hint }), details, cause });
}

async function findOne(all: readonly ServerProject[], ref: ProjectRef): Promise<ServerProject> {
  const projects = all.filter(({ prefix }) => reaches({ projects: ref.within }, prefix));
  if (projects.length === 0 && ref.within !== undefined) {
    throw new ForgeError(
      'not_found',
      `This server has no project that this token is for: ${ref.within.join(', ')}`,
      {
        hint: 'forge token list',
        details: { projects: ref.within },
      },
    );
  }
  const [only, ...more] = projects;
  if (ref.project !== undefined) return findNamed(projects, ref.project);
  if (only !== undefined && more.length === 0) return only;
  const byId = ref.route === undefined ? undefined : await findByTask(projects, ref.route);
  if (byId !== undefined) return byId;
  const byWork =
    ref.route !== undefined || ref.work === undefined ? undefined : await findByWork(projects, ref.work);
  if (byWork !== undefined) return byWork;
  const known = projects.map(({ prefix }) => prefix);
  if (only === undefined) {
    throw new ForgeError('not_found', 'This server has no project', {
      hint: 'forge project add <name> <path>',
    });
  }
  if (ref.route !== undefined && prefixOf(ref.route) !== undefined) {
    throw new ForgeError('not_found', `No task ${ref.route} in any project of this server`, {
      hint: 'forge project list',
      details: { id: ref.route, projects: known },
    });
  }
  if (ref.route === undefined && ref.work !== undefined) {
    const { kind, ref: id } = ref.work;
    throw new ForgeError('not_found', `No ${kind} ${id} in any project of this server`, {
      hint: 'forge runs list',
      details: { id, projects: known },
    });
  }
  throw new ForgeError('invalid_input', `Which project? This server has ${known.join(', ')}`, {
    hint: `?project=${known[0] ?? ''}`,
    details: { projects: known },
  });
}

/** A prefix is one project's; a name may be that of several. */
function findNamed(projects: readonly ServerProject[], name: string): ServerProject {
  const byPrefix = projects.find(({ prefix }) => prefix === name);
  if (byPrefix !== undefined) return byPrefix;
  const [named, ...more] = projects.filter((project) => project.name === name);
  const known = projects.map(({ prefix }) => prefix);
  if (named === undefined) {
    throw new ForgeError('not_found', `This server has no project ${JSON.stringify(name)}`, {
      hint: 'forge project list',
      details: { project: name, projects: known },
    });
  }
  if (more.length === 0) return named;
  throw new ForgeError('ambiguous_id', `Several projects are called ${JSON.stringify(name)}`, {
    hint: `?project=${named.prefix}`,
    details: { projects: known },
  });
}

/** By its prefix; ids that were imported stand where they are. */
async function findByTask(
  projects: readonly ServerProject[],
  route: string,
): Promise<ServerProject | undefined> {
  const prefix = prefixOf(route);
  if (prefix === undefined) return undefined;
  const own = projects.find((project) => project.prefix === prefix);
  if (own !== undefined) return own;
  for (const project of projects) {
    if (await project.use(({ store }) => store.holdsTask(route.toLowerCase()))) return project;
  }
  return undefined;
}
