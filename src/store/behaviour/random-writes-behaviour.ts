import { NO_AGENTS } from '#domain/claimer.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { Random } from '../../../tests/support/random.ts';
import type { TaskStore, Writer } from '../store.ts';
import { newTask } from './open-behaviour.ts';

/** A write that may be made in several stores: the same in each. */
export type DrawnWrite = (store: TaskStore, by: Writer) => Promise<unknown>;

/**
 * One write of any kind about these tasks. What it makes new has an id by chance, so it makes nothing new where several
 * stores are to be the same after it.
 */
export function drawWrite(
  random: Random,
  { ids, makes }: { readonly ids: readonly string[]; readonly makes: boolean },
): DrawnWrite {
  const draw = (): string => (ids.length === 0 ? 'fg-none' : random.pick(ids));
  const [id, other, word, key] = [draw(), draw(), `w${random.below(1_000)}`, `k${random.below(3)}`];
  const [priority, force, isRoot] = [random.below(5), random.oneIn(3), random.oneIn(4)];
  const change: readonly DrawnWrite[] = [
    (store, by) => store.updateTask({ id, title: word }, by),
    (store, by) => store.updateTask({ id, description: word, priority }, by),
    (store, by) => store.updateTask({ id, labels_add: [word] }, by),
    (store, by) => store.updateTask({ id, metadata_set: new Map([[key, word]]) }, by),
    (store, by) => store.updateTask({ id, metadata_unset: [key] }, by),
    (store, by) => store.updateTask({ id, parent_id: isRoot ? null : other }, by),
    (store, by) => store.addDependency({ from_id: id, to_id: other, type: 'blocks' }, by),
    (store, by) => store.removeDependency({ from_id: id, to_id: other, type: undefined }, by),
    (store, by) => store.claimTask({ id, assignee: by.actor.name, force, agents: NO_AGENTS }, by),
    (store, by) => store.releaseTask({ id, owner: by.actor.name, force: true, reason: null }, by),
    (store, by) => store.closeTask({ id, reason: word }, by),
    (store, by) => store.reopenTask({ id, reason: null }, by),
    (store, by) => (force ? store.deleteTask({ id }, by) : store.updateTask({ id, title: word }, by)),
  ];
  const make: readonly DrawnWrite[] = [
    (store, by) => store.createTask(newTask(word, { labels: force ? [word] : [] }), by),
    (store, by) => store.createTask(newTask(word), by),
    (store, by) => store.addComment({ id, body: word, reply_to: null }, by),
  ];
  return random.pick(makes ? [...change, ...make] : change);
}

/** What a write gives; a refusal is one of its outcomes. */
export async function outcomeOf(write: Promise<unknown>): Promise<unknown> {
  try {
    return await write;
  } catch (error) {
    if (!isForgeError(error) || error.code === 'internal') throw error;
    const { code, message, details } = error;
    return { code, message, details };
  }
}
