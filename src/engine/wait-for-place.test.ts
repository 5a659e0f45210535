import { expect, it } from 'vitest';
import type { WatchedRun } from '#store/attempt-store.ts';
import { waitForPlace } from './wait-for-place.ts';
import type { ManagedAgent, WorkPlace } from './work.ts';

const agent: ManagedAgent = { name: 'ada', profile: { executor: 'shell', permissions: 'all' }, env: {} };

/** Asks with these runs open; who waits gives up after the first look. */
async function wait(tasks: readonly string[], max: number): Promise<boolean> {
  const giving = new AbortController();
  const open = tasks.map((task_id) => ({ run: { task_id, agent: 'bob' } }) as WatchedRun); // all that is looked at
  const place = {
    store: {
      newestEvent: async () => 1,
      waitFor: async () => 1,
      listOpenRuns: async () => {
        giving.abort();
        return open;
      },
    },
    settings: () => ({ scheduler: { max, per_machine: 9, per_agent: 9 } }),
  } as unknown as WorkPlace; // likewise
  return waitForPlace(place, { agent, task_id: 'fg-1', signal: giving.signal });
}

it.each<[string, readonly string[], number, boolean]>([
  ['the first run of a task does not wait, however full it is', ['fg-2', 'fg-3'], 1, true],
  ['another one has to fit', ['fg-1'], 1, false],
  ['another one that fits is started', ['fg-1'], 2, true],
])('%s', async (_, tasks, max, isStarted) => {
  expect(await wait(tasks, max)).toBe(isStarted);
});

it('nobody gets a place who waits no more', async () => {
  const none = {} as WorkPlace; // is not looked at
  expect(await waitForPlace(none, { agent, task_id: 'fg-1', signal: AbortSignal.abort() })).toBe(false);
});
