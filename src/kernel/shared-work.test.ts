import { describe, expect, it } from 'vitest';
import { SharedWork } from './shared-work.ts';

describe('SharedWork', () => {
  it('is done once more for all who ask while it is under way, and begins after they asked', async () => {
    const shared = new SharedWork<number>();
    let begun = 0;
    const ends: (() => void)[] = [];
    const work = (): Promise<number> => {
      const number = (begun += 1);
      return new Promise((resolve) => ends.push(() => resolve(number)));
    };
    const first = shared.ask(work);
    const later = [shared.ask(work), shared.ask(work), shared.ask(work)];
    expect(begun).toBe(1);
    ends.shift()?.();
    expect(await first).toBe(1);
    await Promise.resolve();
    expect(begun).toBe(2);
    const last = shared.ask(work);
    ends.shift()?.();
    expect(await Promise.all(later)).toEqual([2, 2, 2]);
    ends.shift()?.();
    expect(await last).toBe(3);
  });

  it('goes on after one that failed', async () => {
    const shared = new SharedWork<string>();
    const failed = shared.ask(async () => Promise.reject(new Error('no')));
    const next = shared.ask(async () => 'yes');
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('yes');
    expect(await shared.ask(async () => 'again')).toBe('again');
  });
});
