import { existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { decodeRecord, encodeRecord } from '#domain/record-codec.ts';
import type { Json } from '#kernel/json.ts';
import type { Replication } from '#store/replication.ts';
import { NOTHING_CARRIED } from '#sync/carry-lines.ts';
import type { exportFiles } from '#sync/export-files.ts';
import { toMark } from '#sync/file-changes.ts';
import { digestText } from '#sync/read-file-lines.ts';
import type { TaskFiles } from '#sync/task-files.ts';
import type { SyncClone } from './sync-clone.ts';
import { readState } from './sync-state.ts';
import { SYNC, type SyncWorld } from './sync-world.ts';

export interface SyncMutant {
  readonly name: string;
  /** A sequence that found it once; tried first. */
  readonly seed: number;
  readonly world: SyncWorld;
}

/** Wrong ways to keep tasks in git, each of which the sequences have to find. */
export const SYNC_MUTANTS: readonly SyncMutant[] = [
  mutant('an export writes the store over the file', 16, {
    async exportFiles(store, files, options) {
      await markAsKnown(store, files);
      return SYNC.exportFiles(store, files, { ...options, joined: NOTHING_CARRIED });
    },
  }),
  mutant('a merge takes our side', 0, { mergeTasks: (_base, ours) => ours }),
  mutant('a merge takes the side that changed last, line by line', 0, { mergeTasks: mergeByUpdatedAt }),
  mutant('a merge of two lines forgets whose they are', 27, {
    mergeTasks: (base, ours, theirs, now) =>
      SYNC.mergeTasks(base, ours, withOurIdentities(ours, theirs), now),
  }),
  mutant('the merged history keeps our side', 1, { mergeHistory: (ours) => ours }),
  mutant('a fold puts the line of the file in the place of the task', 0, { fold: foldLastLineWins }),
  mutant('edits by hand are not stamped', 19, { fold: foldAsSealed }),
  mutant('a replay leaves out the newest write', 8, { beforeReplay: cutLastLine }),
  mutant('what git wrote after a switch is taken for known', 0, {
    afterCheckout: ({ store, files }) => markAsKnown(store, files),
  }),
  mutant('an export leaves out what it cannot read', 36, { exportFiles: exportReadable }),
];

function mutant(name: string, seed: number, wrong: Partial<SyncWorld>): SyncMutant {
  return { name, seed, world: { ...SYNC, ...wrong } };
}

/** The rule of a plain format without stamps: the newer `updated_at` takes the whole task. */
function mergeByUpdatedAt(_base: string, ours: string, theirs: string): string {
  const lines = new Map<string, { text: string; at: string }>();
  for (const text of [...ours.split('\n'), ...theirs.split('\n')]) {
    const record = tryDecode(text);
    if (record === undefined) continue;
    const at = String((JSON.parse(text) as { updated_at?: string }).updated_at);
    const there = lines.get(record.id);
    if (there === undefined || at > there.at) lines.set(record.id, { text, at });
  }
  const sorted = [...lines].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([, { text }]) => `${text}\n`).join('');
}

/** Two tasks that share an id look like two versions of one. */
function withOurIdentities(ours: string, theirs: string): string {
  const known = new Map(ours.split('\n').map((line) => [tryDecode(line)?.id, tryDecode(line)]));
  const lines = theirs.split('\n').map((line) => {
    const record = tryDecode(line);
    const same = record === undefined ? undefined : known.get(record.id);
    if (record === undefined || same === undefined) return line;
    const { created_at, created, created_by } = same;
    return encodeRecord({ ...record, created_at, created, created_by });
  });
  return lines.join('\n');
}

/** A store that is filled anew: with what it knew, and over that what the file says. */
async function foldLastLineWins(clone: SyncClone): Promise<void> {
  const { tasks } = clone.readWorkingTree();
  const { lines } = await readState(clone.store);
  const written = (tasks ?? '').split('\n').filter((line) => line !== '');
  const merged = new Map<string, string>();
  for (const line of [...lines, ...written]) merged.set(tryDecode(line)?.id ?? line, line);
  if ([...merged.values()].sort().join('\n') === [...lines].sort().join('\n')) return;
  await clone.removeEverything();
  if (tasks === undefined) rmSync(clone.files.tasks, { force: true });
  writeFileSync(clone.files.tasks, [...merged.values()].map((line) => `${line}\n`).join(''));
  await SYNC.fold(clone);
  clone.writeWorkingTree({ ...clone.readWorkingTree(), tasks });
}

async function exportReadable(...[store, files, options]: Parameters<typeof exportFiles>) {
  const exported = await SYNC.exportFiles(store, files, options);
  const lines = readFileSync(files.tasks, 'utf8').split('\n');
  const readable = lines.filter((line) => line === '' || tryDecode(line) !== undefined);
  if (readable.length < lines.length) writeFileSync(files.tasks, readable.join('\n'));
  return exported;
}

/** Every line as if Forge had written it so. */
async function foldAsSealed(clone: SyncClone): Promise<void> {
  const tree = clone.readWorkingTree();
  const lines = (tree.tasks ?? '').split('\n').map((line) => {
    const record = tryDecode(line);
    return record === undefined ? line : encodeRecord(record);
  });
  if (tree.tasks !== undefined) clone.writeWorkingTree({ ...tree, tasks: lines.join('\n') });
  await SYNC.fold(clone);
}

function cutLastLine(replica: string): void {
  if (!existsSync(replica)) return;
  const lines = readFileSync(replica, 'utf8').split('\n');
  truncateSync(replica, Buffer.byteLength(lines.slice(0, -2).join('\n')) + (lines.length > 2 ? 1 : 0));
}

async function markAsKnown(store: Replication, files: TaskFiles): Promise<void> {
  for (const path of [files.tasks, files.history]) {
    if (!existsSync(path)) continue;
    const digest = digestText(readFileSync(path, 'utf8'));
    const stats = statSync(path, { bigint: true });
    const event_seq = null;
    await store.saveMark({ ...toMark(path, stats, { digest, looked_at: Date.now() }), event_seq });
  }
}

function tryDecode(line: string): ReturnType<typeof decodeRecord> | undefined {
  try {
    return decodeRecord(JSON.parse(line) as Json);
  } catch {
    return undefined;
  }
}
