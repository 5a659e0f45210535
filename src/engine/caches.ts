import { constants, existsSync, readdirSync } from 'node:fs';
import { cp, mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { WorkPlace } from './work.ts';

type CachePlace = Pick<WorkPlace, 'home' | 'root'>;

/** What agents have cached. */
export const AGENT_CACHES = 'agents';
/** What set-ups have cached in new folders, before any agent was there: on the files of the target alone. */
export const SETUP_CACHES = 'set-ups';
/** What checks have cached, where a person wants that kept. */
const CHECK_CACHES = 'checks';

/** Inside of walls the caches of a project stand in the places of the user's own. */
export function toCacheFolder({ home, root }: CachePlace, whose: string): string {
  return join(home, 'caches', basename(root), whose);
}

/** Caches for as long as they are needed. */
interface OpenCaches extends AsyncDisposable {
  readonly whose: string;
}

/**
 * Caches for the checks of one review or merge. A package that an agent has changed in a cache would decide the checks of
 * its work, and so would one that a test of an earlier round has changed. So they begin with what set-ups of the target
 * have cached, and are thrown away afterwards, unless a person wants them kept.
 */
export async function openCheckCaches(
  place: CachePlace & Pick<WorkPlace, 'settings'>,
  gateId: string,
): Promise<OpenCaches> {
  const { checks, check_caches } = place.settings().walls;
  if (checks === 'off' || check_caches === 'kept')
    return { whose: CHECK_CACHES, [Symbol.asyncDispose]: async () => {} };
  const whose = `${OF_GATE}${gateId}`;
  const folder = toCacheFolder(place, whose);
  const from = toCacheFolder(place, SETUP_CACHES);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (existsSync(from))
    await cp(from, folder, {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
      mode: constants.COPYFILE_FICLONE,
    });
  return {
    whose,
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const OF_GATE = 'gate-';

/** Removes those that a process has left; `isNeeded` says which reviews and merges are open. */
export async function sweepCaches(place: CachePlace, isNeeded: (gateId: string) => boolean): Promise<void> {
  const top = toCacheFolder(place, '');
  const left = existsSync(top) ? readdirSync(top).filter((name) => name.startsWith(OF_GATE)) : [];
  for (const name of left)
    if (!isNeeded(name.slice(OF_GATE.length))) await rm(join(top, name), { recursive: true, force: true });
}
