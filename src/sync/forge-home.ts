import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether `folder` is where Forge keeps what belongs to the person, also when it was reached through symbolic
 * links or does not exist yet. A dotfiles repository may hold it; it is no project for that.
 */
export function isForgeHome(folder: string, env: Environment, homeDir: string): boolean {
  const exists = existsSync(folder);
  // Most often one of the two is not there, which spares the way through the file system.
  return listHomes(env, homeDir).some(
    (home) => existsSync(home) === exists && toRealPlace(home) === toRealPlace(folder),
  );
}

function listHomes(env: Environment, homeDir: string): string[] {
  const homes = [env['FORGE_HOME'] || join(homeDir, '.forge')];
  if (env['XDG_DATA_HOME']) homes.push(join(env['XDG_DATA_HOME'], 'forge'));
  return homes;
}

function toRealPlace(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const absolute = resolve(path);
    const parent = dirname(absolute);
    return parent === absolute ? absolute : join(toRealPlace(parent), basename(absolute));
  }
}
