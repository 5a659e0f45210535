import type { Engine } from './engine.ts';

/**
 * A run that lost its task by a change has ended when the change is answered, and before the next owner begins. Costs one
 * look where no run is open.
 */
export async function endLost({ store, work }: Pick<Engine, 'store' | 'work'>, id: string): Promise<void> {
  if (!(await store.isWorkedOn(id))) return;
  await (await work?.())?.endLost(id);
}
