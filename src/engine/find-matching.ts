import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as otherTurn } from 'node:timers/promises';
import { parsePathPattern, type Places, type Segment, step, toPlaces } from '#domain/path-pattern.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';

/**
 * Plain files below a folder that a pattern names, as paths with `/` in it. No link is followed, and nothing below `.git`
 * is looked at. Other work goes on meanwhile. Throws invalid_input for what is no pattern, too_large for a folder with
 * more in it than is looked through.
 */
export async function findMatching(
  folder: string,
  pattern: string,
  most: number = LIMITS.copy_entries,
): Promise<readonly string[]> {
  const parsed = parsePathPattern(pattern);
  if (parsed === undefined) throw new ForgeError('invalid_input', `${JSON.stringify(pattern)} is no glob`);
  const found = new Set<string>();
  const walk: Walk = { folder, pattern, found, most, looks: 0 };
  for (const way of parsed.ways) await walkFolder(walk, way, { inside: '', places: toPlaces(way, [0]) });
  return [...found];
}

/** The longest pattern takes a tenth of a millisecond for the longest name. */
const LOOKS_A_TURN = 200;

interface Walk {
  readonly folder: string;
  readonly pattern: string;
  /** Entries of folders that are looked at. */
  readonly most: number;
  readonly found: Set<string>;
  /** Of all ways together. */
  looks: number;
}

interface Stand {
  /** Of the folder: nothing, or a path with `/` at its end. */
  readonly inside: string;
  readonly places: Places;
}

async function walkFolder(walk: Walk, way: readonly Segment[], { inside, places }: Stand): Promise<void> {
  for (const { name, kind } of await listEntries(join(walk.folder, inside), toLiterals(way, places))) {
    walk.looks += 1;
    if (walk.looks > walk.most) throw tooMany(walk);
    if (walk.looks % LOOKS_A_TURN === 0) await otherTurn();
    if (name.toLowerCase() === '.git') continue;
    const next = step(way, places, name);
    if (kind === 'file' && next.isMet) walk.found.add(inside + name);
    if (kind === 'folder' && next.inside.size > 0)
      await walkFolder(walk, way, { inside: `${inside}${name}/`, places: next.inside });
  }
}

/** The only names that can fit here; undefined where any may. */
function toLiterals(way: readonly Segment[], places: Places): string[] | undefined {
  const names: string[] = [];
  for (const at of places) {
    const segment = way[at];
    if (segment === undefined) continue;
    if (segment.kind === 'folders' || segment.literal === undefined) return undefined;
    names.push(segment.literal);
  }
  return names;
}

interface Entry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'other';
}

async function listEntries(path: string, names: readonly string[] | undefined): Promise<readonly Entry[]> {
  if (names === undefined)
    return (await readdir(path, { withFileTypes: true }).catch(toNothing)).map((one) =>
      toEntry(one.name, one),
    );
  const known = await Promise.all(
    names.map((name) => lstat(join(path, name)).then((one) => [toEntry(name, one)], toNothing)),
  );
  return known.flat();
}

function toEntry(name: string, one: Pick<Dirent, 'isFile' | 'isDirectory'>): Entry {
  return { name, kind: one.isFile() ? 'file' : one.isDirectory() ? 'folder' : 'other' };
}

/** What is not there, or may not be looked at, has nothing to copy. */
function toNothing(error: NodeJS.ErrnoException): [] {
  if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ENAMETOOLONG'].includes(error.code ?? '')) return [];
  throw error;
}

function tooMany({ pattern, most }: Walk): ForgeError {
  return new ForgeError(
    'too_large',
    `workspace.copy: ${JSON.stringify(pattern)} looks through too many files`,
    {
      hint: 'Name the folder that the files lie in, without ** before it',
      details: { limit: most, pattern },
    },
  );
}
