import { NO_AGENTS } from '#domain/claimer.ts';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { by, create } from './behaviour/open-behaviour.ts';

const LEASE = 60_000;
const claim = (temp: TempStore, id: string, name: string) =>
  temp.store.claimTask(
    { id, assignee: name, force: false, lease_ms: LEASE, agents: NO_AGENTS },
    { actor: { kind: 'agent', name, named: true }, now: temp.clock.now() },
  );

describe('a claim with a lease, in a database', () => {
  it('survives a database that is gone: its holder has one lease time to be heard of', async () => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'Kept');
    await claim(temp, id, 'bot');
    for (const between of [async () => undefined, () => temp.store.compactReplica(by(temp))]) {
      await between();
      await temp.rebuild();
      expect(await claim(temp, id, 'rival')).toMatchObject({ outcome: 'taken' });
    }
    temp.clock.advance(LEASE);
    await claim(temp, id, 'rival');
    temp.clock.advance(LEASE);
    expect(await claim(temp, id, 'rival')).toMatchObject({ outcome: 'claimed' });
  });

  it('remembers the clocks of so many machines at most', async () => {
    const steady = { clock: 1, at: 5_000 };
    await using temp = await tempStore({ steady: () => ({ ...steady }) });
    const { id } = await create(temp, 'Carried');
    await claim(temp, id, 'bot');
    for (let clock = 2; clock < 200; clock += 1) {
      Object.assign(steady, { clock });
      expect(await claim(temp, id, 'rival')).toMatchObject({ outcome: 'taken' });
    }
    using db = temp.connect();
    const counted = db.prepare('SELECT count(*) AS n FROM lease_clocks').get()?.n;
    expect(counted).toBeLessThanOrEqual(LIMITS.lease_clocks + 1);
    steady.at += LEASE;
    expect(await claim(temp, id, 'rival')).toMatchObject({ outcome: 'claimed' });
  });
});

it('a pause survives a database that is gone', async () => {
  await using temp = await tempStore();
  const { paused_at } = await temp.store.pauseProject(true, by(temp));
  await temp.rebuild();
  expect(await temp.store.readPause()).toBe(paused_at);
  await temp.store.pauseProject(false, by(temp));
  await temp.rebuild();
  expect(await temp.store.readPause()).toBeNull();
});
