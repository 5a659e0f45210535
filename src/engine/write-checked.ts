import type { HookRunner, MoveCheck } from '#domain/decide-move-check.ts';
import { findRefusal } from '#domain/task-refusal.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { HookResult, Standing, Writer } from '#store/store.ts';
import type { Engine } from './engine.ts';

/** A write, and the move that it made where that was to be looked at. */
export interface CheckedWrite<T> {
  readonly result: T;
  readonly check: MoveCheck | undefined;
  readonly guarded: readonly HookResult[];
}

/**
 * A write that may be a move. The store decides where it leads; where a hook of the workflow has something to say about
 * that, or an agent is at work on the task, it says so and writes nothing. Then `look` runs, without a transaction, on the
 * task as it was decided by, and the write is made again. A move that needs no look is one transaction and no more.
 */
export async function writeChecked<T>(
  engine: Engine,
  {
    write,
    look,
  }: {
    readonly write: (by: Writer) => Promise<T>;
    readonly look: (check: MoveCheck, standing: Standing) => Promise<readonly HookResult[]>;
  },
): Promise<CheckedWrite<T>> {
  const { store, by } = engine;
  const hooks = await readHooks(engine);
  let checked: MoveCheck | undefined;
  let guarded: readonly HookResult[] = [];
  let isNoted = false;
  for (let tries = 1; ; tries += 1) {
    try {
      const result = await write({ ...by, hooks: { ...hooks, checked } });
      return { result, check: checked, guarded };
    } catch (error) {
      const refusal = findRefusal(error);
      if (refusal === undefined || tries > LIMITS.move_tries) throw error;
      if (refusal.outcome === 'check_first') {
        const standing = await store.readStanding(refusal.check.id);
        // Where it was changed since, the write says anew what is to be looked at.
        if (standing.task.version !== refusal.check.version) continue;
        guarded = await look(refusal.check, standing);
        checked = refusal.check;
        continue;
      }
      // The store refuses to end a task whose work is not in its target; where it is, it has to know.
      const isUnlanded = refusal.outcome === 'unfinished' || refusal.outcome === 'not_landed';
      const work = isUnlanded && !isNoted && isForgeError(error) ? await engine.work?.() : undefined;
      if (work === undefined || !isForgeError(error)) throw error;
      isNoted = true;
      await work.noteLanded(String(error.details['id']));
    }
  }
}

/** What the store is told of who runs the hooks of a move: which agents are started by them. */
export async function readHooks({ follows, agents }: Engine): Promise<HookRunner> {
  return { starts: follows === true ? await agents.readManaged() : NOBODY };
}

const NOBODY: ReadonlySet<string> = new Set();
