import { expect, it } from 'vitest';
import type { JsonObject } from '#kernel/json.ts';
import { decodeRecord } from './record-codec.ts';
import { digestLife, digestRecord, readDigests } from './record-digests.ts';

const LINE = {
  id: 'fg-aaaa',
  title: 'One',
  status: 'open',
  created_at: '2026-01-01T00:00:00.000Z',
  created_by: 'ann',
};

// Other clones, with older versions of Forge, have these in their files: they may not change.
it.each<[string, JsonObject, string]>([
  ['a new task', {}, 'tj7e3szep2t'],
  ['labels', { labels: ['b', 'a'] }, 'tj7e3szep2t..3dqq9z'],
  ['metadata', { metadata: { k: 1 } }, 'tj7e3szep2t....acokgg'],
  ['an edge', { dependencies: [{ id: 'fg-bbbb', type: 'blocks' }] }, 'tj7e3szep2t...2aa'],
  ['a key of others', { sprint: 4 }, 'tj7e3szep2t.dyz45g'],
])('the digest of %s is short, and reads as what it was made of', (_, more, digest) => {
  const made = digestRecord(decodeRecord({ ...LINE, ...more }));
  expect(made).toBe(digest);
  const read = readDigests(made);
  const counts = [read?.fields, read?.labels, read?.edges, read?.metadata].map((part) => part?.size);
  const sizes = [more.sprint, more.labels, more.dependencies, more.metadata].map((part) =>
    part === undefined ? 0 : Array.isArray(part) ? part.length : 1,
  );
  expect(counts).toEqual(sizes);
});

it('the digest of a life tells every two lives apart', () => {
  const open = {
    status: 'open',
    state: 'todo',
    assignee: null,
    close_reason: null,
    closed_at: null,
  } as const;
  const lives = [
    open,
    { ...open, state: 'backlog' },
    { ...open, assignee: 'ann' },
    { ...open, status: 'in_progress', state: 'in_progress', assignee: 'ann' },
    { ...open, status: 'in_progress', state: 'todo' },
    { ...open, status: 'closed', state: 'done' },
    { ...open, status: 'closed', state: 'done', close_reason: 'x' },
    { ...open, status: 'closed', state: 'done', closed_at: '2026-01-01T00:00:00.000Z' },
  ] as const;
  expect(new Set(lives.map(digestLife)).size).toBe(lives.length);
});
