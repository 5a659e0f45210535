import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DiskChange, NameChange, RecordedDisk } from './power-loss-disk.ts';
import type { Random } from './random.ts';

/**
 * The model of a disk that loses power.
 *
 * - Durable: what was done to a file before an fsync or fdatasync of that file, and names that changed in a folder
 *   before an fsync of that folder. A sync of a file does not make its name durable.
 * - Names that were not synced: of each folder a prefix of the changes survives, in their order; a change of two
 *   folders survives in both or in none. Half of the cuts have one journal for all folders, as ext4 has.
 * - Data that was not synced: every write and every change of size survives or does not, independent of the others, or
 *   some of its sectors survive. The bytes that did not survive are what they were; behind the old end they are zeros.
 *
 * Git's own files are outside: git decides how they are synced, so they are as the programs saw them last.
 */
export interface Cut {
  /** So many changes had been made. */
  readonly at: number;
  readonly random: Random;
  /** How much of what was not synced survives; drawn for each cut where it is left out. */
  readonly survives?: Survival;
  /** What loses anything at all; all files of Forge where it is left out. */
  readonly only?: RegExp;
  /** A file whose syncs never happened: what a program that forgets them would leave. */
  readonly forgetting?: RegExp;
  /** A file whose last write that was synced is torn all the same: what a disk that lies would leave. */
  readonly tearing?: RegExp;
}

export type Survival = 'all' | 'nothing' | 'some';

/** A tree, by the numbers of its files. */
export interface LeftTree {
  /** The names in each folder. */
  readonly names: ReadonlyMap<number, ReadonlyMap<string, number>>;
  bytes(file: number): Buffer;
  /** The number of the file with that path below the root. */
  find(path: string): number | undefined;
}

const SECTORS = [512, 4096];
/** Files of which a power cut may take something. */
const AT_RISK = /^(\.git\/forge|\.forge)(\/|$)/;

/** What is on the disk after a power cut. The same numbers give the same tree. */
export function cutPower(disk: RecordedDisk, cut: Cut): LeftTree {
  const { random } = cut;
  const survives = cut.survives ?? random.pick<Survival>(['nothing', 'some', 'some', 'all']);
  const done = disk.changes.slice(0, cut.at);
  const synced = readSyncs(disk, done, cut.forgetting);
  const isSafe = (node: number, at: number): boolean =>
    survives === 'all' ||
    at < (synced.get(node) ?? 0) ||
    !(cut.only ?? AT_RISK).test(disk.nodes[node]?.path ?? '');
  const names = leaveNames(disk, done, { isSafe, survives, random });
  const files = Map.groupBy(
    [...done.entries()].flatMap(([at, change]) => ('file' in change ? [{ at, change }] : [])),
    ({ change }) => change.file,
  );
  // Drawn now for every file, so that what is read of the tree does not change what is in it.
  const drawn = new Map(
    [...files].map(([file, changes]) => [
      file,
      changes.map(({ at, change }) => {
        const isTorn = cut.tearing?.test(disk.nodes[file]?.path ?? '') === true && at === changes.at(-1)?.at;
        const fate = isTorn ? 'zeros' : isSafe(file, at) ? 'whole' : drawFate(survives, random);
        return { change, fate, seed: random.below(1 << 30) };
      }),
    ]),
  );
  return {
    names,
    bytes(file) {
      const content = openContent(disk.nodes[file]?.base ?? Buffer.alloc(0));
      for (const { change, fate, seed } of drawn.get(file) ?? []) applyChange(content, change, fate, seed);
      return content.bytes();
    },
    find: (path) =>
      path.split('/').reduce<number | undefined>((at, name) => names.get(at ?? -1)?.get(name), 0),
  };
}

/** The number of the change before which all is durable, for each file and folder. */
function readSyncs(
  disk: RecordedDisk,
  done: readonly DiskChange[],
  forgetting: RegExp | undefined,
): Map<number, number> {
  const synced = new Map<number, number>();
  for (const change of done) {
    if (change.kind !== 'sync' || forgetting?.test(disk.nodes[change.node]?.path ?? '') === true) continue;
    synced.set(change.node, Math.max(synced.get(change.node) ?? 0, change.before));
  }
  return synced;
}

interface Rules {
  readonly isSafe: (node: number, at: number) => boolean;
  readonly survives: Survival;
  readonly random: Random;
}

function leaveNames(
  disk: RecordedDisk,
  done: readonly DiskChange[],
  { isSafe, survives, random }: Rules,
): Map<number, Map<string, number>> {
  const names = new Map<number, Map<string, number>>(
    disk.nodes.filter(({ kind }) => kind === 'folder').map(({ id }) => [id, new Map<string, number>()]),
  );
  const apply = ({ folder, name, to }: NameChange): void => {
    if (to === undefined) names.get(folder)?.delete(name);
    else names.get(folder)?.set(name, to);
  };
  disk.baseNames.forEach(apply);
  const changed = [...done.entries()].flatMap(([at, change]) =>
    change.kind === 'names' ? [{ at, ...change }] : [],
  );
  const isOpen = ({ at, names: of }: (typeof changed)[number]): boolean =>
    !of.every(({ folder }) => isSafe(folder, at));
  const open = changed.filter(isOpen).length;
  // One journal: so many of the changes that are not synced survive, in all folders together.
  const journal = random.oneIn(2) ? (survives === 'nothing' ? 0 : random.below(open + 1)) : undefined;
  const stopped = new Set<number>();
  let kept = 0;
  for (const one of changed) {
    const folders = one.names.map(({ folder }) => folder);
    if (isOpen(one)) {
      const ends = journal === undefined ? survives === 'nothing' || random.oneIn(4) : kept >= journal;
      if (ends) for (const folder of folders) stopped.add(folder);
      kept += 1;
      if (folders.some((folder) => stopped.has(folder))) {
        // Nothing in either folder may survive that came after it.
        for (const folder of folders) stopped.add(folder);
        continue;
      }
    }
    one.names.forEach(apply);
  }
  return names;
}

type Fate = 'whole' | 'gone' | 'torn' | 'zeros';

function drawFate(survives: Survival, random: Random): Fate {
  if (survives === 'nothing') return 'gone';
  return random.pick<Fate>(['whole', 'whole', 'gone', 'torn', 'zeros']);
}

function applyChange(
  content: Content,
  change: Extract<DiskChange, { kind: 'data' | 'size' }>,
  fate: Fate,
  seed: number,
): void {
  if (fate === 'gone') return;
  if (change.kind === 'size') return content.resize(change.size);
  const { at, bytes } = change;
  const end = at + bytes.length;
  if (fate === 'whole') return content.write(bytes, at);
  // The file is as long as it was to be, and nothing is in it yet.
  if (fate === 'zeros') return content.resize(Math.max(content.size(), end));
  const sector = SECTORS[seed % SECTORS.length] ?? 512;
  for (let from = at, n = 0; from < end; n += 1) {
    const to = Math.min(end, (Math.floor(from / sector) + 1) * sector);
    // A bit of the seed for each sector, so that any set of them may survive.
    if (((seed >>> (n % 29)) & 1) === 1) content.write(bytes.subarray(from - at, to - at), from);
    from = to;
  }
}

/** The bytes of a file that grows: new places in it are zeros. */
interface Content {
  size(): number;
  write(bytes: Buffer, at: number): void;
  resize(size: number): void;
  bytes(): Buffer;
}

function openContent(base: Buffer): Content {
  let buffer = Buffer.from(base);
  let size = base.length;
  const resize = (wanted: number): void => {
    if (wanted > buffer.length) {
      const wider = Buffer.alloc(Math.max(wanted, buffer.length * 2));
      buffer.copy(wider, 0, 0, size);
      buffer = wider;
    }
    if (wanted < size) buffer.fill(0, wanted, size);
    size = wanted;
  };
  return {
    size: () => size,
    resize,
    write(bytes, at) {
      resize(Math.max(size, at + bytes.length));
      bytes.copy(buffer, at);
    },
    bytes: () => buffer.subarray(0, size),
  };
}

/** As if written a while ago: a file of this moment is looked at again, and the moment is over at any time. */
const AGO_S = 60;

/** Writes the tree into a new folder. */
export function writeTree(disk: RecordedDisk, tree: LeftTree, into: string): void {
  const then = Date.now() / 1_000 - AGO_S;
  const write = (folder: number, path: string): void => {
    mkdirSync(path);
    for (const [name, id] of tree.names.get(folder) ?? []) {
      const node = disk.nodes[id];
      const at = join(path, name);
      if (node === undefined) continue;
      if (node.kind === 'link') symlinkSync(node.base.toString(), at);
      else if (node.kind === 'folder') write(id, at);
      else {
        writeFileSync(at, tree.bytes(id));
        utimesSync(at, then, then);
      }
      if (node.kind !== 'link') chmodSync(at, node.mode);
    }
  };
  write(0, into);
}
