import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a command knows of the person who runs it. */
export interface HomePlace {
  /** The Forge home; it may not exist yet. */
  readonly home: string;
  readonly env: Environment;
  readonly homeDir: string;
  /** Prefixes of the only projects that the caller may know of; undefined for all. */
  readonly within?: readonly string[] | undefined;
}

export function toHomePlace(env: Environment, homeDir: string): HomePlace {
  return { home: findForgeHome(env, homeDir), env, homeDir };
}

/**
 * Where what belongs to the person lies: `FORGE_HOME`, else a `~/.forge` that is there, else under
 * `XDG_DATA_HOME` where that is set, else `~/.forge`. It may not exist yet; whoever writes first makes it.
 */
export function findForgeHome(env: Environment, homeDir: string): string {
  if (env['FORGE_HOME']) return resolve(env['FORGE_HOME']);
  const usual = join(homeDir, '.forge');
  const data = findDataHome(env);
  return data === undefined || isFolder(usual) ? usual : data;
}

/**
 * Whether `folder` is where Forge keeps what belongs to the person, also when it was reached through symbolic
 * links or does not exist yet. A dotfiles repository may hold it; it is no project for that. Every place that
 * could become the home counts, so that a project cannot stand where the home will be.
 */
export function isForgeHome(folder: string, env: Environment, homeDir: string): boolean {
  const exists = existsSync(folder);
  // Most often one of the two is not there, which spares the way through the file system.
  return listHomes(env, homeDir).some(
    (home) => existsSync(home) === exists && toRealPlace(home) === toRealPlace(folder),
  );
}

function listHomes(env: Environment, homeDir: string): string[] {
  const data = findDataHome(env);
  return [env['FORGE_HOME'] || join(homeDir, '.forge'), ...(data === undefined ? [] : [data])];
}

/** The specification wants a path that begins at the root, and all others left out. */
function findDataHome(env: Environment): string | undefined {
  const data = env['XDG_DATA_HOME'];
  return data !== undefined && isAbsolute(data) ? join(data, 'forge') : undefined;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/** Symbolic links followed as far as there is something. */
export function toRealPlace(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const absolute = resolve(path);
    const parent = dirname(absolute);
    return parent === absolute ? absolute : join(toRealPlace(parent), basename(absolute));
  }
}
