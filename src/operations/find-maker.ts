import { toTriggeredBy, type Actor } from '#domain/actor.ts';
import type { OpenProject } from './operation.ts';

type Store = OpenProject['store'];

/** Whether this agent created the task. The history is asked: `created_by` does not tell an agent from a person. */
export async function isMadeBy(store: Store, id: string, maker: Actor): Promise<boolean> {
  return (await findBirth(store, id))?.triggered_by === toTriggeredBy(maker);
}

/** Whether an agent created the task while one of its runs was at work. */
export async function isMadeInRun(store: Store, id: string): Promise<boolean> {
  const birth = await findBirth(store, id);
  const agent = /^agent:(.+)$/s.exec(birth?.triggered_by ?? '')?.[1];
  if (birth === undefined || agent === undefined) return false;
  const runs = await store.listRuns({ agent });
  return runs.some(
    ({ created_at, ended_at }) => created_at <= birth.at && (ended_at === null || birth.at <= ended_at),
  );
}

/** Undefined for what came with a pull or an import. */
async function findBirth(
  store: Store,
  id: string,
): Promise<{ readonly at: string; readonly triggered_by: string } | undefined> {
  return store.findEntry({ id: (await store.findTask(id)).id, type: 'task.created', after: 0 });
}
