import type { ProcessMark } from '#store/attempt-store.ts';
import { workTask } from '#engine/work-task.ts';
import { Workshop } from '#engine/workshop.ts';
import { dyingStore, goneProcess, type DyingStore } from './dying-store.ts';
import type { TempWorkshop } from './temp-workshop.ts';

export interface KilledWork {
  /** The writes that it lived to see. */
  readonly writes: readonly string[];
  /** It was not killed: there were no more writes. */
  readonly over: boolean;
}

/** `forge run` on a task, by a process that is killed after so many writes. */
export async function killAfter(
  shop: TempWorkshop,
  lives: number,
  run: { readonly id: string; readonly agent: string; readonly merge: boolean },
): Promise<KilledWork> {
  const { workshop, dying } = openDying(shop, lives);
  const engine = { ...shop.as(), store: dying.store, work: async () => workshop };
  const worked = workTask(workshop, engine, run);
  const over = await Promise.race([dying.died.then(() => false), worked.then(() => true)]);
  return { writes: [...dying.writes], over };
}

/** A process beside this one, that is gone as far as everybody else can tell. */
export function openDying(
  shop: TempWorkshop,
  lives = Number.POSITIVE_INFINITY,
  watcher: ProcessMark = goneProcess(),
): { workshop: Workshop; dying: DyingStore } {
  const dying = dyingStore(shop.place.store, lives);
  return { workshop: new Workshop({ ...shop.place, store: dying.store, watcher }), dying };
}
