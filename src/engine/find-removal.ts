import type { Loss } from '#domain/run-hold.ts';
import type { WorkPlace } from './work.ts';

/**
 * Whether the agent that was there at this time was removed since. Another entry of the same name is another agent:
 * whoever removes one and adds it anew wants the old one gone. A change of an entry is none.
 */
export async function findRemoval(
  { agents }: Pick<WorkPlace, 'agents'>,
  name: string,
  since: string,
): Promise<Loss | undefined> {
  const known = (await agents.facts.readAll()).get(name);
  const isSame = agents.find(name) !== undefined && (known?.added_at ?? '') <= since;
  return isSame ? undefined : { code: 'removed', message: `${name} was removed` };
}
