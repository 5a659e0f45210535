import type { Engine } from './engine.ts';

/**
 * Whoever lost a task by a change is at work on it no more when the change is answered, and before anybody else begins.
 * Costs one look where nobody is at work.
 */
export async function endLost({ store, work }: Pick<Engine, 'store' | 'work'>, id: string): Promise<void> {
  if (!(await store.isWorkedOn(id))) return;
  await (await work?.())?.endLost(id);
}
