import { getEventListeners, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { graceSignal } from './grace-signal.ts';

describe('a signal with a grace period', () => {
  it('fires after the outer one has, whether that was before or comes later', async () => {
    using late = graceSignal(AbortSignal.abort(), 1);
    await once(late.signal, 'abort');
    const outer = new AbortController();
    using waiting = graceSignal(outer.signal, 1);
    expect(waiting.signal.aborted).toBe(false);
    outer.abort();
    expect(waiting.signal.aborted).toBe(false);
    await once(waiting.signal, 'abort');
  });

  it('waits for the outer one only, and no longer than it is needed', () => {
    const outer = new AbortController();
    const listeners = (): number => getEventListeners(outer.signal, 'abort').length;
    {
      using waiting = graceSignal(outer.signal, 1);
      expect(waiting.signal.aborted).toBe(false);
      expect(listeners()).toBe(1);
    }
    expect(listeners()).toBe(0);
  });
});
