import { dirname, join } from 'node:path';
import { findRepository } from '#git/find-repository.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { isIdPrefix } from '#kernel/ids.ts';
import type { Json, JsonObject } from '#kernel/json.ts';
import { findProject, type FoundProject } from './find-project.ts';
import { type HomePlace, isForgeHome, toRealPlace } from './forge-home.ts';
import { changeHomeFile, parseHomeObject, readHomeFile } from './home-file.ts';
import { isProjectName, NAME_RULE } from './project-config.ts';

/** A project that the person told Forge about, so that its ids mean something everywhere. */
export interface RegisteredProject {
  readonly name: string;
  /** Real path of its main working tree. */
  readonly path: string;
  readonly prefix: string;
  readonly added_at: string;
}

const FILE = 'config.json';
const VERSION = 1;

/** In the order they were added; none where there is no file yet. */
export function listProjects(home: string): RegisteredProject[] {
  return readProjects(parseRegistry(readHomeFile(home, FILE), join(home, FILE)), join(home, FILE));
}

export type AddedProject = RegisteredProject & { readonly outcome: 'added' | 'updated' | 'unchanged' };

/**
 * Idempotent. Without a name the project keeps the one it is registered under, else gets its own. One of the same
 * name and prefix that is not there any more has moved here. Throws already_exists for a name or a prefix that
 * another project has.
 */
export function addProject(
  place: HomePlace,
  { found, name, now }: { found: FoundProject; name: string | undefined; now: number },
): Promise<AddedProject> {
  const { home } = place;
  const path = toProjectPlace(found);
  const prefix = found.config.idPrefix;
  return changeHomeFile(home, FILE, (text) => {
    const file = parseRegistry(text, join(home, FILE));
    const projects = readProjects(file, join(home, FILE));
    const asked = name ?? found.config.name;
    const known =
      projects.find((project) => project.path === path) ??
      projects.find(
        (project) => project.name === asked && project.prefix === prefix && isGone(project, place),
      );
    const wanted = {
      name: name ?? known?.name ?? asked,
      path,
      prefix,
      added_at: known?.added_at ?? toIso(now),
    };
    refuseClash(
      wanted,
      projects.filter((project) => project !== known),
      place,
    );
    const unchanged = known?.name === wanted.name && known.prefix === prefix && known.path === path;
    const entries = listEntries(file);
    const at = known === undefined ? -1 : projects.indexOf(known);
    const entry = { ...(entries[at] as JsonObject | undefined), ...wanted };
    const changed = at === -1 ? [...entries, entry] : entries.with(at, entry);
    return {
      text: unchanged ? (text ?? '') : toRegistryText(file, changed),
      answer: { ...wanted, outcome: known === undefined ? 'added' : unchanged ? 'unchanged' : 'updated' },
    };
  });
}

/** The project itself is not touched. Throws not_found. */
export function removeProject(home: string, name: string): Promise<RegisteredProject> {
  return changeHomeFile(home, FILE, (text) => {
    const file = parseRegistry(text, join(home, FILE));
    const projects = readProjects(file, join(home, FILE));
    const removed = projects.find((project) => project.name === name);
    if (removed === undefined) throw unknownProject(name, projects);
    return {
      text: toRegistryText(file, listEntries(file).toSpliced(projects.indexOf(removed), 1)),
      answer: removed,
    };
  });
}

/**
 * The project at a registered place. A folder further up must not answer for one that is gone, nor a project
 * that has other ids by now for the one that was registered. Throws not_a_project with what to do.
 */
export function findRegistered(project: RegisteredProject, { env, homeDir }: HomePlace): FoundProject {
  let found: FoundProject;
  try {
    found = findProject(project.path, env, homeDir);
  } catch (error) {
    if (!isForgeError(error) || error.code !== 'not_a_project') throw error;
    throw notThere(project, 'is not there any more');
  }
  if (toRealPlace(found.paths.root) !== project.path) throw notThere(project, 'is not there any more');
  if (found.config.idPrefix === project.prefix) return found;
  const now = found.config.idPrefix;
  throw notThere(project, `has ids that begin with ${now}- now, not ${project.prefix}-`, { prefix_now: now });
}

/** Whether the project is there, and has other ids by now than it was registered with. */
export function hasOtherPrefix({ details }: ForgeError): boolean {
  return details['prefix_now'] !== undefined;
}

/** The project around a folder that somebody wants to register. Says so where it is the Forge home. */
export function findProjectToAdd(folder: string, { env, homeDir }: HomePlace): FoundProject {
  if (isForgeHome(folder, env, homeDir) || isForgeHome(join(folder, '.forge'), env, homeDir)) {
    throw new ForgeError('invalid_input', `${folder} holds the Forge home, which is no project`, {
      hint: 'forge project add <name> <path of a repository>',
      details: { path: folder },
    });
  }
  try {
    return findProject(folder, env, homeDir);
  } catch (error) {
    if (!isForgeError(error) || error.code !== 'not_a_project') throw error;
    throw new ForgeError('not_a_project', `${folder} is not in a Forge project`, {
      hint: `forge init -C ${JSON.stringify(folder)}`,
      details: { path: folder },
    });
  }
}

function unknownProject(name: string, projects: readonly RegisteredProject[]): ForgeError {
  return new ForgeError('not_found', `No project ${JSON.stringify(name)} is registered`, {
    hint: 'forge project list',
    details: { name, known: projects.map((project) => project.name) },
  });
}

function isGone(project: RegisteredProject, place: HomePlace): boolean {
  try {
    findRegistered(project, place);
    return false;
  } catch (error) {
    if (isForgeError(error)) return error.code === 'not_a_project';
    throw error;
  }
}

function notThere(project: RegisteredProject, why: string, more: JsonObject = {}): ForgeError {
  return new ForgeError('not_a_project', `Project ${project.name} (${project.path}) ${why}`, {
    hint: `forge project remove ${JSON.stringify(project.name)}, or, where it is now: forge project add`,
    details: { project: project.name, path: project.path, prefix: project.prefix, ...more },
  });
}

/** The main working tree rather than a linked one, which goes when its branch is done. */
export function toProjectPlace({ paths }: FoundProject): string {
  const main = dirname(paths.common_dir);
  const other = findRepository(main);
  const shared = other !== undefined && toRealPlace(other.common_dir) === toRealPlace(paths.common_dir);
  return toRealPlace(shared ? other.worktree : paths.root);
}

function refuseClash(
  wanted: RegisteredProject,
  others: readonly RegisteredProject[],
  place: HomePlace,
): void {
  const details = (other: RegisteredProject) => ({
    project: other.name,
    path: other.path,
    prefix: other.prefix,
  });
  const named = others.find((other) => other.name === wanted.name);
  if (named !== undefined) {
    throw new ForgeError('already_exists', `${named.path} is registered as ${wanted.name} already`, {
      hint: `forge project add <another name> ${JSON.stringify(wanted.path)}, or forge project remove ${JSON.stringify(wanted.name)}`,
      details: details(named),
    });
  }
  const same = others.find((other) => other.prefix === wanted.prefix);
  if (same !== undefined) {
    throw new ForgeError(
      'already_exists',
      `Ids that begin with ${wanted.prefix}- belong to project ${same.name} (${same.path}${isGone(same, place) ? ', not there any more' : ''})`,
      {
        hint: isGone(same, place)
          ? `if it is the same project: forge project add ${JSON.stringify(same.name)} ${JSON.stringify(wanted.path)}; else: forge project remove ${JSON.stringify(same.name)}`
          : `Give this project another idPrefix in ${join(wanted.path, '.forge', 'config.json')}, or forge project remove ${JSON.stringify(same.name)}`,
        details: details(same),
      },
    );
  }
}

function parseRegistry(text: string | undefined, path: string): JsonObject {
  if (text === undefined || text.trim() === '') return { version: VERSION, projects: [] };
  const file = parseHomeObject(text, path);
  const { version } = file;
  if (version === undefined || version === VERSION) return file;
  if (typeof version === 'number' && version > VERSION) {
    throw new ForgeError(
      'schema_newer',
      `${path} was written by a newer Forge: version is ${version}, this Forge knows ${VERSION}`,
      { hint: 'Update Forge, then run the command again', details: { path, version, known: VERSION } },
    );
  }
  throw damaged(path, `version must be ${VERSION}`);
}

function listEntries(file: JsonObject): readonly Json[] {
  return (file['projects'] ?? []) as readonly Json[]; // readProjects looked at it
}

function readProjects(file: JsonObject, path: string): RegisteredProject[] {
  const entries = file['projects'] ?? [];
  if (!Array.isArray(entries)) throw damaged(path, 'projects must be a list');
  return (entries as readonly Json[]).map((entry, at) => {
    const { name, path: place, prefix, added_at } = (entry ?? {}) as JsonObject;
    if (!isProjectName(name)) throw damaged(path, `projects[${at}].name must be ${NAME_RULE}`);
    if (typeof place !== 'string' || place === '')
      throw damaged(path, `projects[${at}].path must be the path of a folder`);
    if (typeof prefix !== 'string' || !isIdPrefix(prefix))
      throw damaged(path, `projects[${at}].prefix must be 2 to 4 lower-case letters or digits`);
    return { name, path: place, prefix, added_at: typeof added_at === 'string' ? added_at : '' };
  });
}

/** Keys that this Forge does not know stay, in the file and in each project. */
function toRegistryText(file: JsonObject, projects: readonly Json[]): string {
  return `${JSON.stringify({ ...file, version: VERSION, projects }, null, 2)}\n`;
}

function damaged(path: string, rule: string): ForgeError {
  return new ForgeError('invalid_input', `${path} is damaged: ${rule}`, {
    hint: 'Correct it by hand, or move it away and register the projects again',
    details: { path },
  });
}
