import { join } from 'node:path';
import type { KeptUse } from '#contract/kept-use.ts';
import { listRunLogFiles } from '#executors/run-log-files.ts';
import { byteSize } from '#kernel/byte-size.ts';
import { KEPT_LIMITS } from '#kernel/kept-limits.ts';
import type { AttemptStore } from '#store/attempt-store.ts';
import type { StoreCare } from '#store/store-care.ts';
import { readRescueMemory } from '#sync/rescue-memory.ts';
import { listRescued } from '#sync/rescued-work.ts';
import { readFolderNote } from './folder-note.ts';
import type { FilesPlace } from './keep-files.ts';

const GIGABYTE = 1_000_000_000;

/** Where all of it is looked for. */
export interface KeptPlace extends Omit<FilesPlace, 'store'> {
  readonly store: Pick<AttemptStore, 'listAttempts'> & Pick<StoreCare, 'readKept'>;
}

/** What a project takes of this disk besides its tasks, held against what it may. Nothing is changed. */
export async function measureKept(place: KeptPlace): Promise<KeptUse[]> {
  const { events, replica } = await place.store.readKept();
  return [
    await measureLogs(place),
    await measureRescues(place),
    await measureWorktrees(place),
    toUse('events', {
      number: events.number,
      allowed: { number: events.allowed, days: KEPT_LIMITS.event_days },
      command: GC,
    }),
    toUse('replica', { bytes: replica.bytes, allowed: { bytes: replica.allowed }, command: GC }),
  ];
}

const GC = 'forge gc';

async function measureLogs({ store_dir, settings }: KeptPlace): Promise<KeptUse> {
  const { log_days: days, log_limit_gb } = settings.runs;
  const logs = await listRunLogFiles(join(store_dir, 'attempts'));
  return toUse('run_logs', {
    number: logs.length,
    bytes: logs.reduce((sum, { bytes }) => sum + bytes, 0),
    allowed: { bytes: Math.round(log_limit_gb * GIGABYTE), days },
    why: 'those of work that is not over stay, and those that no row explains',
    command: GC,
  });
}

async function measureRescues({ repo, store_dir, clock, settings }: KeptPlace): Promise<KeptUse> {
  const { rescue_days: days, rescue_limit } = settings.workspace;
  const refs = await listRescued({ repository: repo });
  const memory = readRescueMemory({ store_dir }, refs, clock.now());
  const unseen = [...memory.values()].filter(({ told_at }) => told_at === null).length;
  return toUse('rescues', {
    number: refs.length,
    allowed: { number: rescue_limit, days },
    why:
      unseen === 0
        ? `the newest of each task stays, those of work that is not over, and for ${KEPT_LIMITS.rescue_look_days} days what a person was shown`
        : `no person was shown ${unseen} of them, and they stay until then`,
    command: unseen === 0 ? GC : 'forge workspace rescue',
  });
}

/** As they were measured last: that is done before a folder is made, and by `forge workspace list`. */
async function measureWorktrees({ store, store_dir, settings }: KeptPlace): Promise<KeptUse> {
  const { disk_limit_gb, finished_limit } = settings.workspace;
  const there = await store.listAttempts({ there: true });
  const records = join(store_dir, 'attempts');
  const sizes = there.map(({ id }) => readFolderNote({ records }, id).size?.bytes ?? 0);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const limit = Math.round(disk_limit_gb * GIGABYTE);
  return toUse('worktrees', {
    number: there.filter(({ state }) => state !== 'active').length,
    bytes,
    allowed: { number: finished_limit, bytes: limit },
    why: 'those of unfinished attempts stay, and those that somebody works on',
    command: bytes > limit ? 'forge workspace list' : GC,
  });
}

interface Measured {
  readonly number?: number;
  readonly bytes?: number;
  readonly allowed: { readonly number?: number; readonly bytes?: number; readonly days?: number };
  readonly why?: string;
  readonly command: string;
}

function toUse(what: KeptUse['what'], { number, bytes, allowed, why, command }: Measured): KeptUse {
  const more = [
    ...over(number, allowed.number, (surplus) => `${surplus.toLocaleString('en')} more than allowed`),
    ...over(bytes, allowed.bytes, (surplus) => `${byteSize(surplus)} more than allowed`),
  ];
  const isOver = more.length > 0;
  return {
    what,
    number: number ?? null,
    bytes: bytes ?? null,
    allowed: {
      number: allowed.number ?? null,
      bytes: allowed.bytes ?? null,
      days: allowed.days ?? null,
    },
    exceeded: isOver ? [more.join(' and '), ...(why === undefined ? [] : [why])].join('; ') : null,
    command: isOver ? command : null,
  };
}

function over(
  found: number | undefined,
  allowed: number | undefined,
  tell: (surplus: number) => string,
): string[] {
  return found === undefined || allowed === undefined || found <= allowed ? [] : [tell(found - allowed)];
}
