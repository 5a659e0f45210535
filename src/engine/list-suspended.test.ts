import { expect, it } from 'vitest';
import type { RunQuery } from '#store/attempt-store.ts';
import { addAgent } from '#sync/agent-identities.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { listSuspended } from './list-suspended.ts';

it('the runs of the last day are looked at, and none where there is no agent', async () => {
  await using home = await tempFolder();
  const asked: RunQuery[] = [];
  const store = { listRuns: async (query: RunQuery) => (asked.push(query), []) };
  const now = Date.parse('2026-05-02T12:00:00.000Z');
  expect(await listSuspended(store, { home: home.path, now })).toEqual([]);
  expect(asked).toEqual([]);
  const wish = { executor: 'shell', command: ['true'], permissions: 'all' } as const;
  await addAgent(home.path, { name: 'ada', wish, now });
  expect(await listSuspended(store, { home: home.path, now })).toEqual([]);
  expect(asked).toEqual([{ since: '2026-05-01T12:00:00.000Z' }]);
});
