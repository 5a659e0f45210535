import { describe, expect, it } from 'vitest';
import { KEPT_LIMITS } from '#kernel/kept-limits.ts';
import type { DaemonMark } from '../daemon-store.ts';
import { toMark, type OpenWork, type WorkUnderTest } from './open-work-behaviour.ts';

const TTL = 60_000;

export function describeDaemons(open: OpenWork): void {
  describe('a daemon', () => {
    it('is there as long as its last word holds', async () => {
      await using sut = await open();
      const mark = daemon(7);
      await beat(sut, mark);
      expect(await sut.store.isDaemonOver(mark)).toBe(false);
      sut.clock.advance(TTL - 1);
      expect(await sut.store.isDaemonOver(mark)).toBe(false);
      await beat(sut, mark);
      sut.clock.advance(TTL - 1);
      expect(await sut.store.isDaemonOver(mark)).toBe(false);
      sut.clock.advance(1);
      expect(await sut.store.isDaemonOver(mark)).toBe(true);
    });

    it('is there again when it says so', async () => {
      await using sut = await open();
      const mark = daemon(7);
      await beat(sut, mark);
      sut.clock.advance(2 * TTL);
      expect(await sut.store.isDaemonOver(mark)).toBe(true);
      await beat(sut, mark);
      expect(await sut.store.isDaemonOver(mark)).toBe(false);
    });

    it('is over as soon as it ends, and is listed no more', async () => {
      await using sut = await open();
      const [one, other] = [daemon(7), daemon(8)];
      await beat(sut, one);
      await beat(sut, other);
      await sut.store.endDaemon(one, sut.clock.now());
      await sut.store.endDaemon(one, sut.clock.now());
      expect(await sut.store.isDaemonOver(one)).toBe(true);
      expect((await sut.store.listDaemons()).map(({ mark }) => mark)).toEqual([other]);
      await beat(sut, one);
      expect(await sut.store.isDaemonOver(one)).toBe(false);
      expect(await sut.store.listDaemons()).toHaveLength(2);
    });

    it('that was never heard of has one whole time from the first look on', async () => {
      await using sut = await open();
      const mark = daemon(9);
      expect(await sut.store.isDaemonOver(mark)).toBe(false);
      sut.clock.advance(TTL - 1);
      expect(await sut.store.isDaemonOver(mark)).toBe(false);
      expect(await sut.store.listDaemons()).toMatchObject([{ mark, beat_at: null }]);
      sut.clock.advance(1);
      expect(await sut.store.isDaemonOver(mark)).toBe(true);
    });

    it('that says nothing for a week is forgotten when another one does', async () => {
      await using sut = await open();
      await beat(sut, daemon(7));
      sut.clock.advance(KEPT_LIMITS.daemon_days * 86_400_000);
      await beat(sut, daemon(8));
      expect(await sut.store.listDaemons()).toHaveLength(2);
      sut.clock.advance(1);
      await beat(sut, daemon(8));
      expect((await sut.store.listDaemons()).map(({ mark }) => mark)).toEqual([daemon(8)]);
    });

    it('tells the feed nothing, and is seen by every process', async () => {
      await using sut = await open();
      const seen = await sut.store.newestEvent();
      const mark = daemon(7);
      await beat(sut, mark);
      await using other = await sut.connectAgain();
      expect(await other.isDaemonOver(mark)).toBe(false);
      sut.clock.advance(TTL);
      expect(await other.isDaemonOver(mark)).toBe(true);
      await other.endDaemon(mark, sut.clock.now());
      expect(await sut.store.listDaemons()).toEqual([]);
      expect(await sut.store.newestEvent()).toBe(seen);
    });
  });
}

function daemon(pid: number): DaemonMark {
  return { ...toMark(pid), daemon_id: `00000000-0000-4000-8000-${String(pid).padStart(12, '0')}` };
}

function beat(sut: WorkUnderTest, mark: DaemonMark): Promise<void> {
  return sut.store.beatDaemon({ mark, ttl_ms: TTL }, sut.clock.now());
}
