import { createHash } from 'node:crypto';
import type { FoldReport, FoldRequest, Replication } from '#store/replication.ts';

/** Where the stores of these tests think that their task file lies. */
export const FILE = '/somewhere/.forge/tasks.jsonl';

/** A store that something may be brought to, and the time it is there. */
export interface FoldPlace {
  readonly store: Pick<
    Replication,
    'foldTasks' | 'exportTasks' | 'exportHistory' | 'markExported' | 'newestEvent'
  >;
  readonly clock: { now(): number };
}

export interface FoldOptions {
  readonly path?: string;
  readonly dry_run?: boolean;
  /** Of each line, where they stand in a conflict. */
  readonly sides?: readonly ('ours' | 'theirs' | undefined)[];
  readonly damaged?: readonly Uint8Array[];
}

/** Lines as a file would bring them; objects become JSON. */
export function toRequest(lines: readonly (string | object)[], options: FoldOptions = {}): FoldRequest {
  const { path = FILE, sides = [], damaged = [] } = options;
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  const digest = createHash('sha256').update(texts.join('\n')).digest('hex');
  return {
    path,
    dry_run: options.dry_run,
    lines: texts.map((text, at) => ({ text, number: at + 1, side: sides[at] })),
    expected: texts.length,
    damaged,
    mark: { path, size: 0, mtime: '0', ctime: '0', inode: '0', digest, looked_at: 0 },
    is_copied: true,
  };
}

/** What a command does that finds the file changed; no commit tells anything of lines without stamps. */
export async function fold(
  temp: FoldPlace,
  lines: readonly (string | object)[],
  options?: FoldOptions,
): Promise<FoldReport> {
  const by = { actor: { kind: 'system', name: 'fold', named: true }, now: temp.clock.now() } as const;
  const request = toRequest(lines, options);
  const told = await temp.store.foldTasks(request, by);
  if (told.put_back?.some(({ stood }) => stood !== undefined) !== true) return told;
  const again = await temp.store.foldTasks({ ...request, by_hand: new Set() }, by);
  const deleted = told.deleted + again.deleted;
  return { ...again, created: told.created, updated: told.updated + again.updated, deleted };
}

/** Every line of the file as the store would write it. */
export async function exportLines({ store }: FoldPlace, path = FILE): Promise<string[]> {
  const lines: string[] = [];
  for await (const part of store.exportTasks(path))
    lines.push(...part.lines.map((line) => (typeof line === 'string' ? line : toText(line))));
  return lines;
}

/** The same, and the file stands on disk then: what is in it has left the store. */
export async function shareLines(temp: FoldPlace): Promise<string[]> {
  const lines = await exportLines(temp);
  const { mark } = toRequest(lines);
  await temp.store.markExported([{ ...mark, event_seq: await temp.store.newestEvent() }]);
  return lines;
}

export async function exportMoves({ store }: FoldPlace): Promise<string[]> {
  const lines: string[] = [];
  for await (const part of store.exportHistory('history'))
    lines.push(...part.lines.map((line) => (typeof line === 'string' ? line : toText(line))));
  return lines;
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}
