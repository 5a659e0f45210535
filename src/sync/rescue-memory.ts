import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { readPlainFile } from '#git/read-plain-file.ts';
import { replaceFile } from '#git/replace-file.ts';
import { readSharedModes } from '#git/shared-modes.ts';
import { holdFileLock } from '#process/hold-file-lock.ts';
import type { ProjectPaths } from './project-paths.ts';
import type { Rescued } from './rescued-work.ts';

/** When a rescue ref was first looked at, and when a person was shown it, in ms: git knows neither. */
export interface RememberedRescue {
  readonly commit: string;
  readonly seen_at: number;
  readonly told_at: number | null;
}

type Place = Pick<ProjectPaths, 'store_dir' | 'common_dir'>;
type Refs = readonly Pick<Rescued, 'ref' | 'commit'>[];

/** One at a time looks after logs and rescue refs. Throws store_busy where another process does for longer than that. */
export function holdUpkeep<T>(
  { store_dir }: Pick<Place, 'store_dir'>,
  work: () => Promise<T>,
  patience_ms?: number,
): Promise<T> {
  return holdFileLock(join(store_dir, 'upkeep.lock'), { what: 'upkeep', patience_ms }, work);
}

/** Of these refs. One that is new, or that nothing is known of any more, is seen now and not told to a person yet. */
export function readRescueMemory(
  { store_dir }: Pick<Place, 'store_dir'>,
  refs: Refs,
  now: number,
): Map<string, RememberedRescue> {
  const known = readKnown(store_dir);
  return new Map(
    refs.map(({ ref, commit }) => {
      const one = known.get(ref);
      return [ref, one?.commit === commit ? one : { commit, seen_at: now, told_at: null }];
    }),
  );
}

/** To be called while upkeep is held. */
export function writeRescueMemory(
  { store_dir, common_dir }: Place,
  memory: ReadonlyMap<string, RememberedRescue>,
): void {
  const text = `${JSON.stringify(Object.fromEntries(memory))}\n`;
  const path = toPath(store_dir);
  if (readPlainFile(path)?.toString('utf8') === text) return;
  const { file } = readSharedModes(common_dir);
  replaceFile(path, text, file);
  chmodSync(path, file); // whatever the umask took away
}

/** A person was shown these of all rescue refs that there are. */
export async function noteTold(
  place: Place,
  { all, told, now }: { readonly all: Refs; readonly told: Refs; readonly now: number },
): Promise<void> {
  if (told.length === 0) return;
  await holdUpkeep(place, async () => {
    const memory = readRescueMemory(place, all, now);
    for (const { ref } of told) {
      const one = memory.get(ref);
      if (one !== undefined && one.told_at === null) memory.set(ref, { ...one, told_at: now });
    }
    writeRescueMemory(place, memory);
  });
}

/** What cannot be read is nothing: then all are seen now, and stay the longer. */
function readKnown(store_dir: string): Map<string, RememberedRescue> {
  let value: unknown;
  try {
    value = JSON.parse(readPlainFile(toPath(store_dir))?.toString('utf8') ?? '{}');
  } catch {
    value = {};
  }
  const entries = Object.entries<unknown>(Object(value));
  return new Map(entries.flatMap(([ref, one]) => (isRemembered(one) ? [[ref, one]] : [])));
}

function isRemembered(value: unknown): value is RememberedRescue {
  const { commit, seen_at, told_at } = Object(value) as Record<string, unknown>;
  return (
    typeof commit === 'string' &&
    typeof seen_at === 'number' &&
    (told_at === null || typeof told_at === 'number')
  );
}

function toPath(store_dir: string): string {
  return join(store_dir, 'rescues.json');
}
