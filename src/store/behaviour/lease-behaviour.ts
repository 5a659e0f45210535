import { describe, expect, it } from 'vitest';
import { NO_AGENTS } from '#domain/claimer.ts';
import { by, create, type OpenStore, type StoreUnderTest } from './open-behaviour.ts';

const LEASE = 60_000;
const bot = (sut: StoreUnderTest, name = 'bot') =>
  ({ actor: { kind: 'agent', name, named: true }, now: sut.clock.now() }) as const;
const claim = (sut: StoreUnderTest, id: string, name: string) =>
  sut.store.claimTask(
    { id, assignee: name, force: false, lease_ms: LEASE, agents: NO_AGENTS },
    bot(sut, name),
  );

/** Claims that end by themselves, and a pause. */
export function describeLeases(open: OpenStore): void {
  describe('a claim with a lease', () => {
    it('is taken over when its holder is silent for too long, and the old number fits no more', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Leased');
      const first = await claim(sut, id, 'bot');
      expect(first).toMatchObject({ outcome: 'claimed' });
      const fence = first.outcome === 'claimed' ? first.fence : 0;
      sut.clock.advance(LEASE - 1);
      expect(await claim(sut, id, 'rival')).toMatchObject({ outcome: 'taken', owner: 'bot' });
      sut.clock.advance(1);
      expect(await claim(sut, id, 'rival')).toMatchObject({ outcome: 'claimed' });
      await expect(sut.store.renewLease({ id, fence }, bot(sut))).rejects.toMatchObject({
        code: 'fence_conflict',
      });
      await expect(sut.store.closeTask({ id, reason: 'late', fence }, bot(sut))).rejects.toMatchObject({
        code: 'fence_conflict',
      });
    });

    it('holds as long as its holder says that it is there', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Kept');
      const claimed = await claim(sut, id, 'bot');
      const fence = claimed.outcome === 'claimed' ? claimed.fence : 0;
      for (let beat = 0; beat < 10; beat += 1) {
        sut.clock.advance(LEASE - 1_000);
        await sut.store.renewLease({ id, fence }, bot(sut));
        expect(await claim(sut, id, 'rival')).toMatchObject({ outcome: 'taken' });
      }
    });

    it('is not judged in the first lease time after a start', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Slept');
      await claim(sut, id, 'bot');
      sut.clock.advance(8 * 3_600_000);
      await sut.reopen(() => undefined, { begins: true });
      expect(await claim(sut, id, 'rival')).toMatchObject({ outcome: 'taken' });
      sut.clock.advance(LEASE - 1);
      expect(await claim(sut, id, 'rival')).toMatchObject({ outcome: 'taken' });
      sut.clock.advance(1);
      expect(await claim(sut, id, 'rival')).toMatchObject({ outcome: 'claimed' });
    });

    it.each([2, 4, 9, 40])('[M7] is its holder’s for one lease time after a sleep of %i', async (times) => {
      await using sut = await open();
      const { id } = await create(sut, 'Slept');
      const claimed = await claim(sut, id, 'bot');
      const fence = claimed.outcome === 'claimed' ? claimed.fence : 0;
      sut.clock.advance(LEASE / 2);
      await sut.store.renewLease({ id, fence }, bot(sut));
      sut.clock.advance(times * LEASE);
      // Both wake at the same moment, and the rival is faster.
      expect(await claim(sut, id, 'rival')).toMatchObject({ outcome: 'taken', owner: 'bot' });
      await sut.store.renewLease({ id, fence }, bot(sut));
      sut.clock.advance(LEASE - 1);
      expect(await claim(sut, id, 'rival')).toMatchObject({ outcome: 'taken', owner: 'bot' });
      // Who is silent after that is gone.
      sut.clock.advance(1);
      expect(await claim(sut, id, 'rival')).toMatchObject({ outcome: 'claimed' });
    });

    it('[M7] a server that was stopped judges nobody for one lease time, also where others were there', async () => {
      const steady = { clock: 1, at: 100_000, awake: 1_000 };
      await using sut = await open({ steady: () => ({ ...steady }) });
      const { id } = await create(sut, 'Held');
      const other = await create(sut, 'Other');
      await claim(sut, id, 'bot');
      steady.at += LEASE - 1;
      await claim(sut, other.id, 'busy');
      // Stopped for a moment, in which the first lease ended.
      steady.at += 5_000;
      steady.awake = steady.at;
      expect(await claim(sut, id, 'rival')).toMatchObject({ outcome: 'taken', owner: 'bot' });
      steady.at += LEASE - 1;
      expect(await claim(sut, id, 'rival')).toMatchObject({ outcome: 'taken', owner: 'bot' });
      steady.at += 1;
      expect(await claim(sut, id, 'rival')).toMatchObject({ outcome: 'claimed' });
    });

    it('a server that ran all the time judges at once who is silent', async () => {
      const steady = { clock: 1, at: 100_000, awake: 1_000 };
      await using sut = await open({ steady: () => ({ ...steady }) });
      const { id } = await create(sut, 'Left');
      await claim(sut, id, 'bot');
      steady.at += 1.5 * LEASE;
      expect(await claim(sut, id, 'rival')).toMatchObject({ outcome: 'claimed' });
    });

    it('is given back to the queue by whoever asks for the next task', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Swept');
      await claim(sut, id, 'bot');
      const next = () => sut.store.claimNext({ assignee: 'rival', agents: NO_AGENTS }, bot(sut, 'rival'));
      expect(await next()).toBeUndefined();
      // Nobody looked in between, so that the holder has one lease time from now.
      sut.clock.advance(LEASE + 1);
      expect(await next()).toBeUndefined();
      sut.clock.advance(LEASE);
      expect(await next()).toMatchObject({ id, assignee: 'rival' });
      const moves = await sut.store.listTransitions({ id, limit: undefined });
      expect(moves.map(({ triggered_by, trigger_reason }) => [triggered_by, trigger_reason])).toEqual([
        ['agent:bot', null],
        ['system', 'the lease of bot ran out'],
        ['agent:rival', null],
      ]);
    });

    it('[M7] says nothing about whoever has the task after its holder', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Taken');
      await claim(sut, id, 'bot');
      const taking = { id, assignee: 'ann', force: true, agents: NO_AGENTS };
      const taken = await sut.store.claimTask(taking, bot(sut, 'ann'));
      const fence = taken.outcome === 'claimed' ? taken.fence : 0;
      await expect(sut.store.renewLease({ id, fence }, bot(sut, 'ann'))).rejects.toMatchObject({
        code: 'state_invalid',
      });
      const next = () => sut.store.claimNext({ assignee: 'rival', agents: NO_AGENTS }, bot(sut, 'rival'));
      for (let times = 0; times < 3; times += 1) {
        sut.clock.advance(LEASE);
        expect(await next()).toBeUndefined();
        expect(await claim(sut, id, 'rival')).toMatchObject({ outcome: 'taken', owner: 'ann' });
      }
    });

    it('a claim without one ends by itself never', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Kept');
      await sut.store.claimTask({ id, assignee: 'bot', force: false, agents: NO_AGENTS }, bot(sut));
      for (let day = 0; day < 3; day += 1) {
        sut.clock.advance(86_400_000);
        expect(
          await sut.store.claimTask(
            { id, assignee: 'rival', force: false, agents: NO_AGENTS },
            bot(sut, 'rival'),
          ),
        ).toMatchObject({
          outcome: 'taken',
        });
      }
      await expect(sut.store.renewLease({ id, fence: 1 }, bot(sut))).rejects.toMatchObject({
        code: 'state_invalid',
      });
    });
  });

  describe('leases and clocks that disagree', () => {
    const HOUR = 3_600_000;
    /** A store on one machine: `steady` is its own clock, and each client sees the time of day as it likes. */
    async function machine() {
      const steady = { clock: 1, at: 5_000 };
      const own = await open({ steady: () => ({ ...steady }) });
      const at = (name: string, offset: number) =>
        ({ actor: { kind: 'agent', name, named: true }, now: own.clock.now() + offset }) as const;
      return {
        own,
        steady,
        pass(ms: number) {
          own.clock.advance(ms);
          steady.at += ms;
        },
        claim: (id: string, name: string, offset = 0) =>
          own.store.claimTask(
            { id, assignee: name, force: false, lease_ms: LEASE, agents: NO_AGENTS },
            at(name, offset),
          ),
        next: (name: string, offset = 0) =>
          own.store.claimNext({ assignee: name, agents: NO_AGENTS }, at(name, offset)),
        renew: (id: string, fence: number, offset = 0) =>
          own.store.renewLease({ id, fence }, at('bot', offset)),
        [Symbol.asyncDispose]: () => own[Symbol.asyncDispose](),
      };
    }

    it.each([2 * LEASE, 10 * LEASE, HOUR, -HOUR, 365 * 24 * HOUR])(
      'a client whose clock is off by %i ms takes over nothing that is renewed',
      async (offset) => {
        await using sut = await machine();
        const { id } = await create(sut.own, 'Kept');
        const claimed = await sut.claim(id, 'bot');
        const fence = claimed.outcome === 'claimed' ? claimed.fence : 0;
        for (let beat = 0; beat < 40; beat += 1) {
          sut.pass(LEASE / 3);
          expect(await sut.claim(id, 'rival', offset)).toMatchObject({ outcome: 'taken', owner: 'bot' });
          expect(await sut.next('rival', offset)).toBeUndefined();
          expect(await sut.claim(id, 'third')).toMatchObject({ outcome: 'taken', owner: 'bot' });
          await sut.renew(id, fence);
        }
      },
    );

    it('a holder whose own clock jumps keeps what it renews, and is missed when it is gone', async () => {
      await using sut = await machine();
      const { id } = await create(sut.own, 'Jumped');
      const claimed = await sut.claim(id, 'bot');
      const fence = claimed.outcome === 'claimed' ? claimed.fence : 0;
      for (const offset of [HOUR, -HOUR, 0, 100 * HOUR, -100 * HOUR]) {
        sut.pass(LEASE - 1);
        await sut.renew(id, fence, offset);
        expect(await sut.claim(id, 'rival')).toMatchObject({ outcome: 'taken' });
      }
      sut.pass(LEASE - 1);
      expect(await sut.claim(id, 'rival')).toMatchObject({ outcome: 'taken' });
      sut.pass(1);
      expect(await sut.claim(id, 'rival')).toMatchObject({ outcome: 'claimed' });
    });

    it('after a start of the machine every holder has one lease time, whatever its clock counts from', async () => {
      for (const at of [0, 1_000_000_000]) {
        await using sut = await machine();
        const { id } = await create(sut.own, 'Started');
        await sut.claim(id, 'bot');
        sut.pass(LEASE - 1);
        Object.assign(sut.steady, { clock: 2, at });
        expect(await sut.claim(id, 'rival')).toMatchObject({ outcome: 'taken' });
        sut.pass(LEASE - 1);
        expect(await sut.claim(id, 'rival')).toMatchObject({ outcome: 'taken' });
        sut.pass(1);
        expect(await sut.claim(id, 'rival')).toMatchObject({ outcome: 'claimed' });
      }
    });

    it('two machines on one store judge nobody whom the other hears of', async () => {
      await using sut = await machine();
      const { id } = await create(sut.own, 'Shared');
      const claimed = await sut.claim(id, 'bot');
      const fence = claimed.outcome === 'claimed' ? claimed.fence : 0;
      for (let beat = 0; beat < 40; beat += 1) {
        const here = { ...sut.steady };
        Object.assign(sut.steady, { clock: 2, at: here.at + 7 * HOUR });
        expect(await sut.claim(id, 'rival')).toMatchObject({ outcome: 'taken' });
        Object.assign(sut.steady, here);
        sut.pass(LEASE / 3);
        await sut.renew(id, fence);
      }
      // And in the end the one that is left.
      Object.assign(sut.steady, { clock: 2, at: 0 });
      expect(await sut.claim(id, 'rival')).toMatchObject({ outcome: 'taken' });
      sut.pass(LEASE);
      expect(await sut.claim(id, 'rival')).toMatchObject({ outcome: 'claimed' });
    });

    it.each([LEASE / 4, LEASE * 3])(
      'two machines that take turns every %i ms both count, and miss a holder that is gone',
      async (pause) => {
        await using sut = await machine();
        const { id } = await create(sut.own, 'Left');
        await sut.claim(id, 'bot');
        let [passed, taken] = [0, false];
        for (let rounds = 0; rounds < 20 && !taken; rounds += 1) {
          const here = { ...sut.steady };
          Object.assign(sut.steady, { clock: 2, at: here.at + 7 * HOUR });
          taken = (await sut.claim(id, 'rival')).outcome === 'claimed';
          Object.assign(sut.steady, here);
          if (taken) break;
          sut.pass(pause);
          passed += pause;
          taken = (await sut.claim(id, 'rival')).outcome === 'claimed';
        }
        expect(taken).toBe(true);
        // Never before one lease time has passed.
        expect(passed).toBeGreaterThanOrEqual(LEASE);
      },
    );

    it('a machine that comes back judges nobody by what it counted before the holder was heard of elsewhere', async () => {
      await using sut = await machine();
      const { id } = await create(sut.own, 'Heard of');
      const claimed = await sut.claim(id, 'bot');
      const fence = claimed.outcome === 'claimed' ? claimed.fence : 0;
      const there = { clock: 2, at: 7 * HOUR };
      const goThere = () => Object.assign(sut.steady, there, { at: sut.steady.at + there.at });
      const comeBack = () => Object.assign(sut.steady, { clock: 1, at: sut.steady.at - there.at });
      goThere();
      expect(await sut.claim(id, 'rival')).toMatchObject({ outcome: 'taken' });
      comeBack();
      for (let beat = 0; beat < 5; beat += 1) {
        sut.pass(LEASE / 2);
        await sut.renew(id, fence);
      }
      goThere();
      expect(await sut.claim(id, 'rival')).toMatchObject({ outcome: 'taken' });
      sut.pass(LEASE - 1);
      expect(await sut.claim(id, 'rival')).toMatchObject({ outcome: 'taken' });
      sut.pass(LEASE);
      expect(await sut.claim(id, 'rival')).toMatchObject({ outcome: 'claimed' });
    });

    it('a project without leases never asks for the time', async () => {
      let asked = 0;
      await using sut = await open({ steady: () => ({ clock: 1, at: (asked += 1) }) });
      const { id } = await create(sut, 'Plain');
      const other = await create(sut, 'Other');
      await sut.store.claimTask({ id, assignee: 'bot', force: false, agents: NO_AGENTS }, bot(sut));
      await sut.store.claimNext({ assignee: 'bot', agents: NO_AGENTS }, bot(sut));
      await sut.store.closeTask({ id: other.id, reason: 'done' }, bot(sut));
      expect(asked).toBe(0);
      await sut.store.claimTask(
        { id, assignee: 'bot', force: false, lease_ms: LEASE, agents: NO_AGENTS },
        bot(sut),
      );
      expect(asked).toBe(1);
    });
  });

  describe('a pause', () => {
    it('keeps agents out until it ends', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Wanted');
      const { paused_at } = await sut.store.pauseProject(true, by(sut));
      expect(paused_at).not.toBeNull();
      expect(await sut.store.pauseProject(true, by(sut))).toEqual({ paused_at });
      expect(await claim(sut, id, 'bot')).toMatchObject({ outcome: 'project_paused' });
      await sut.reopen();
      expect(await sut.store.readPause()).toBe(paused_at);
      await sut.store.pauseProject(false, by(sut));
      expect(await sut.store.readPause()).toBeNull();
      expect(await claim(sut, id, 'bot')).toMatchObject({ outcome: 'claimed' });
    });
  });
}
