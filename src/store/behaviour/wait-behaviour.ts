import { describe, expect, it } from 'vitest';
import { by, create } from './open-behaviour.ts';
import { startRun, startWork, WATCHER, type OpenWork, type WorkUnderTest } from './open-work-behaviour.ts';

/** A wait that is not told of what it should be would last as long as its test. */
const LONG_MS = 600_000;

export function describeWaits(open: OpenWork): void {
  describe('a wait for events', () => {
    it('is over at once where there is a newer one already', async () => {
      await using sut = await open();
      await create(sut, 'First');
      const newest = await sut.store.newestEvent();
      expect(await sut.store.waitFor(newest - 1)).toBe(newest);
      expect(await sut.store.waitFor(0)).toBe(newest);
    });

    it('ends with the next event, for all who wait', async () => {
      await using sut = await open();
      const seen = await sut.store.newestEvent();
      const waits = Promise.all([1, 2, 3].map(() => sut.store.waitFor(seen, { timeout_ms: LONG_MS })));
      await create(sut, 'Awaited');
      expect(await waits).toEqual(Array(3).fill(await sut.store.newestEvent()));
    });

    it('ends with an event that another connection wrote', async () => {
      await using sut = await open();
      const { id: task_id } = await create(sut, 'Worked on');
      await using second = await sut.connectAgain();
      const seen = await sut.store.newestEvent();
      const waiting = sut.store.waitFor(seen, { timeout_ms: LONG_MS });
      await second.clearReviews({ task_id }, by(sut));
      await second.startReview(
        { id: crypto.randomUUID(), task_id, attempt_id: null, head_commit: null, watcher: WATCHER },
        by(sut),
      );
      expect(await waiting).toBeGreaterThan(seen);
    });

    it('goes on with the next one where the last is known', async () => {
      await using sut = await open();
      let seen = await sut.store.newestEvent();
      for (const title of ['a', 'b', 'c']) {
        const waiting = sut.store.waitFor(seen, { timeout_ms: LONG_MS });
        await create(sut, title);
        const now = await waiting;
        expect(now).toBeGreaterThan(seen);
        seen = now;
      }
    });

    it('ends with numbers that begin anew', async () => {
      await using sut = await open();
      await create(sut, 'First');
      expect(await sut.store.waitFor(1_000)).toBe(await sut.store.newestEvent());
    });

    it('is broken off by its signal, before it began and while it stands', async () => {
      await using sut = await open();
      const seen = await sut.store.newestEvent();
      expect(await sut.store.waitFor(seen, { signal: AbortSignal.abort() })).toBe(seen);
      const control = new AbortController();
      const waiting = sut.store.waitFor(seen, { signal: control.signal });
      const another = sut.store.waitFor(seen, { timeout_ms: LONG_MS });
      control.abort();
      expect(await waiting).toBe(seen);
      await create(sut, 'For the other one');
      expect(await another).toBeGreaterThan(seen);
    });

    it('may be one of many by the same signal, of which the system does not warn', async () => {
      await using sut = await open();
      const told: Error[] = [];
      const listen = (warning: Error): void => void told.push(warning);
      process.on('warning', listen);
      const control = new AbortController();
      const seen = await sut.store.newestEvent();
      const waits = Array.from({ length: 30 }, () => sut.store.waitFor(seen, { signal: control.signal }));
      // Warnings are told in a later turn.
      await sut.store.waitFor(seen, { timeout_ms: 20 });
      control.abort();
      expect(await Promise.all(waits)).toEqual(Array(30).fill(seen));
      process.off('warning', listen);
      expect(told).toEqual([]);
    });

    it('is over when its time is, and when the store is closed', async () => {
      await using sut = await open();
      const seen = await sut.store.newestEvent();
      expect(await sut.store.waitFor(seen, { timeout_ms: 1 })).toBe(seen);
      const waiting = sut.store.waitFor(seen, { timeout_ms: LONG_MS });
      await sut.reopen();
      expect(await waiting).toBe(seen);
    });

    it.each<readonly [string, (sut: WorkUnderTest) => Promise<() => Promise<unknown>>]>([
      ['that a run is to stop', async (sut) => wishFor(sut, ({ run }) => sut.store.askStop(run, by(sut)))],
      [
        'a message to an agent',
        async (sut) =>
          wishFor(sut, ({ attempt }) =>
            sut.store.addMessage({ attempt_id: attempt.id, body: 'Be quick' }, by(sut)),
          ),
      ],
      [
        'what an agent asks for, and the answer',
        async (sut) =>
          wishFor(sut, async ({ run }) => {
            const asked = await sut.store.askApproval(
              { id: crypto.randomUUID(), run_id: run.id, tool: 'shell', input: {} },
              by(sut),
            );
            const seen = await sut.store.newestEvent();
            const waiting = sut.store.waitFor(seen, { timeout_ms: LONG_MS });
            await sut.store.answerApproval({ id: asked.id, state: 'allowed' }, by(sut));
            expect(await waiting).toBeGreaterThan(seen);
          }),
      ],
      [
        'that a task was taken from a run',
        async (sut) =>
          wishFor(sut, ({ task }) => sut.store.deleteTask({ id: task.id }, by(sut, 'ann', 'user'))),
      ],
    ])('ends with a wish: %s', async (_what, prepare) => {
      await using sut = await open();
      const wish = await prepare(sut);
      const seen = await sut.store.newestEvent();
      const waiting = sut.store.waitFor(seen, { timeout_ms: LONG_MS });
      await wish();
      expect(await waiting).toBeGreaterThan(seen);
    });
  });
}

type Work = Awaited<ReturnType<typeof startWork>> & { readonly run: Awaited<ReturnType<typeof startRun>> };

async function wishFor(sut: WorkUnderTest, wish: (work: Work) => Promise<unknown>) {
  const work = await startWork(sut);
  const run = await startRun(sut, work.attempt, { state: 'running' });
  return () => wish({ ...work, run });
}
