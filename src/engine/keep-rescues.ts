import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Attempt } from '#contract/attempt.ts';
import { decideKeptRescues, type KeptRescueFacts } from '#domain/decide-kept-rescues.ts';
import { letGoRef } from '#git/let-go-ref.ts';
import { isForgeError } from '#kernel/errors.ts';
import { KEPT_LIMITS } from '#kernel/kept-limits.ts';
import { listRescued, type Rescued } from '#sync/rescued-work.ts';
import { readRescueMemory, writeRescueMemory } from '#sync/rescue-memory.ts';
import type { FilesPlace } from './keep-files.ts';

const DAY_MS = 86_400_000;

export interface LetGo {
  readonly ref: string;
  readonly commit: string;
}

/** Rescue refs that a person was shown go in the end; each is then in the reflog of `refs/forge/let-go`. */
export async function keepRescues(place: FilesPlace): Promise<LetGo[]> {
  const { repo, clock, settings } = place;
  const { rescue_days, rescue_limit } = settings.workspace;
  const now = clock.now();
  const paths = { store_dir: place.store_dir, common_dir: repo.common_dir };
  const refs = await listRescued({ repository: repo });
  const memory = readRescueMemory(paths, refs, now);
  const until = now - rescue_days * DAY_MS;
  const isDue = [...memory.values()].some(({ told_at }) => told_at !== null && told_at < until);
  const shown_until = now - Math.min(rescue_days, KEPT_LIMITS.rescue_look_days) * DAY_MS;
  const gone: LetGo[] = [];
  if (isDue || refs.length > rescue_limit) {
    const facts = await readFacts(place, refs, memory);
    const goes = decideKeptRescues(facts, { until, shown_until, number: rescue_limit });
    for (const { ref } of goes.slice(0, KEPT_LIMITS.rescues_at_once)) {
      const commit = memory.get(ref)?.commit ?? '';
      if (!(await letGoRef(repo, { ref, commit }))) continue;
      memory.delete(ref);
      gone.push({ ref, commit });
    }
  }
  writeRescueMemory(paths, memory);
  return gone;
}

async function readFacts(
  place: FilesPlace,
  refs: readonly Rescued[],
  memory: ReturnType<typeof readRescueMemory>,
): Promise<KeptRescueFacts[]> {
  const attempts = new Map<string, Attempt | undefined>();
  for (const { attempt_id } of refs) {
    if (attempts.has(attempt_id)) continue;
    attempts.set(attempt_id, await findAttempt(place, attempt_id));
    await nextTurn();
  }
  const works = await readWorks(place, [...attempts.values()]);
  return refs.map(({ ref, attempt_id, number }) => {
    const { seen_at = 0, told_at = null } = memory.get(ref) ?? {};
    const attempt = attempts.get(attempt_id);
    return {
      ref,
      attempt_id,
      task_id: attempt?.task_id ?? null,
      number,
      seen_at,
      told_at,
      folder: isThere(place, attempt_id, attempt) ? 'there' : 'gone',
      work: works.get(attempt_id) ?? 'unknown',
    };
  });
}

/** By its attempt's row, or by what is noted of folders while they are there. */
function isThere({ repo }: FilesPlace, id: string, attempt: Attempt | undefined): boolean {
  const record = join(repo.common_dir, 'forge', 'control.git', 'attempts', id);
  return existsSync(record) || (attempt !== undefined && attempt.removed_at === null);
}

/** Few ids at once: they are one query. */
const TASKS_AT_ONCE = 100;

async function readWorks(
  { store }: FilesPlace,
  found: readonly (Attempt | undefined)[],
): Promise<Map<string, KeptRescueFacts['work']>> {
  const attempts = found.filter((one) => one !== undefined);
  const ids = [...new Set(attempts.map(({ task_id }) => task_id))];
  const over = new Map<string, boolean>();
  for (let at = 0; at < ids.length; at += TASKS_AT_ONCE)
    for (const { id, deleted, status } of await store.listHeads(ids.slice(at, at + TASKS_AT_ONCE)))
      over.set(id, deleted || status === 'closed');
  return new Map(
    attempts.map(({ id, task_id, state }) => {
      const isOver = over.get(task_id);
      if (isOver === undefined) return [id, 'unknown'];
      return [id, isOver && state !== 'active' ? 'over' : 'unfinished'];
    }),
  );
}

async function findAttempt({ store }: FilesPlace, id: string): Promise<Attempt | undefined> {
  try {
    const found = await store.getAttempt(id);
    return found.id === id ? found : undefined;
  } catch (error) {
    // A ref that a person made by hand may bear any name.
    if (isForgeError(error)) return undefined;
    throw error;
  }
}
