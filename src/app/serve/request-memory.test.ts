import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { createRequestMemory } from './request-memory.ts';

const ANSWER = { status: 201, headers: {}, body: '{}' };
const REQUEST = { token: 't', key: 'k', digest: 'd', now: 1_000 };

describe('requests that no database remembers', () => {
  it('are new once, then pending, then done with their answer', async () => {
    const memory = createRequestMemory();
    expect(await memory.beginRequest(REQUEST)).toEqual({ outcome: 'new' });
    expect(await memory.beginRequest({ ...REQUEST, now: 2_000 })).toEqual({
      outcome: 'pending',
      began_at: 1_000,
    });
    await memory.finishRequest(REQUEST, ANSWER);
    await memory.finishRequest(REQUEST, { ...ANSWER, body: 'other' });
    await memory.dropRequest(REQUEST);
    expect(await memory.beginRequest(REQUEST)).toEqual({ outcome: 'done', answer: ANSWER });
    expect(await memory.beginRequest({ ...REQUEST, digest: 'e' })).toEqual({ outcome: 'conflict' });
    expect(await memory.beginRequest({ ...REQUEST, token: 'u' })).toEqual({ outcome: 'new' });
  });

  it('can be tried again when they came to nothing, and after a day', async () => {
    const memory = createRequestMemory();
    await memory.beginRequest(REQUEST);
    await memory.dropRequest(REQUEST);
    expect(await memory.beginRequest(REQUEST)).toEqual({ outcome: 'new' });
    const late = { ...REQUEST, now: REQUEST.now + LIMITS.idempotency_ms - 1 };
    expect(await memory.beginRequest(late)).toMatchObject({ outcome: 'pending' });
    expect(await memory.beginRequest({ ...late, now: late.now + 1 })).toEqual({ outcome: 'new' });
  });

  it('are forgotten when they are too many, the oldest first', async () => {
    const memory = createRequestMemory();
    for (let at = 0; at < 1_100; at += 1) await memory.beginRequest({ ...REQUEST, key: `k${at}` });
    expect(await memory.beginRequest({ ...REQUEST, key: 'k0' })).toEqual({ outcome: 'new' });
    expect(await memory.beginRequest({ ...REQUEST, key: 'k1099' })).toMatchObject({ outcome: 'pending' });
  });
});
