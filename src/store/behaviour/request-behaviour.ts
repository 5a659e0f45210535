import { describe, expect, it } from 'vitest';
import type { IdempotencyStore } from '../idempotency-store.ts';

const DAY = 24 * 3_600_000;
const ANSWER = { status: 201, headers: { a: 'b' }, body: '{"id":"fg-1"}' };

/** A store of requests, and the same one as another process opens it. */
export interface RequestsUnderTest extends AsyncDisposable {
  readonly store: IdempotencyStore;
  connectAgain(): Promise<IdempotencyStore & AsyncDisposable>;
}

export function describeRequests(name: string, open: () => Promise<RequestsUnderTest>): void {
  describe(`${name}: requests that bear a key`, () => {
    it('are new once, then pending, then done with their answer', async () => {
      await using sut = await open();
      const { store } = sut;
      const request = { token: 't', key: 'k', digest: 'd', now: 1_000 };
      expect(await store.beginRequest(request)).toEqual({ outcome: 'new' });
      expect(await store.beginRequest({ ...request, now: 2_000 })).toEqual({
        outcome: 'pending',
        began_at: 1_000,
      });
      await store.finishRequest(request, ANSWER);
      expect(await store.beginRequest(request)).toEqual({ outcome: 'done', answer: ANSWER });
      // What is done stays done.
      await store.finishRequest(request, { ...ANSWER, body: 'other' });
      await store.dropRequest(request);
      expect(await store.beginRequest(request)).toEqual({ outcome: 'done', answer: ANSWER });
    });

    it('conflict with another request of the key, but not with that of another token', async () => {
      await using sut = await open();
      const { store } = sut;
      const request = { token: 't', key: 'k', digest: 'd', now: 0 };
      await store.beginRequest(request);
      expect(await store.beginRequest({ ...request, digest: 'e' })).toEqual({ outcome: 'conflict' });
      expect(await store.beginRequest({ ...request, token: 'u', digest: 'e' })).toEqual({ outcome: 'new' });
    });

    it('can be tried again when they came to nothing', async () => {
      await using sut = await open();
      const { store } = sut;
      const request = { token: 't', key: 'k', digest: 'd', now: 0 };
      await store.beginRequest(request);
      await store.dropRequest(request);
      await store.dropRequest(request);
      expect(await store.beginRequest({ ...request, digest: 'e' })).toEqual({ outcome: 'new' });
    });

    it('are forgotten after a day, the pending ones too', async () => {
      await using sut = await open();
      const { store } = sut;
      const done = { token: 't', key: 'done', digest: 'd', now: 5 };
      const cut = { token: 't', key: 'cut', digest: 'd', now: 5 };
      await store.beginRequest(done);
      await store.finishRequest(done, ANSWER);
      await store.beginRequest(cut);
      const late = { now: 5 + DAY - 1 };
      expect(await store.beginRequest({ ...done, ...late })).toMatchObject({ outcome: 'done' });
      expect(await store.beginRequest({ ...cut, ...late })).toMatchObject({ outcome: 'pending' });
      const later = { now: 5 + DAY };
      expect(await store.beginRequest({ ...done, ...later })).toEqual({ outcome: 'new' });
      expect(await store.beginRequest({ ...cut, ...later })).toEqual({ outcome: 'new' });
    });

    it('survive the process, and one of two gets through', async () => {
      await using sut = await open();
      await using one = await sut.connectAgain();
      await using two = await sut.connectAgain();
      const request = { token: 't', key: 'k', digest: 'd', now: 0 };
      const outcomes = await Promise.all([one.beginRequest(request), two.beginRequest(request)]);
      expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual(['new', 'pending']);
      await one.finishRequest(request, ANSWER);
      await using three = await sut.connectAgain();
      expect(await three.beginRequest(request)).toEqual({ outcome: 'done', answer: ANSWER });
    });
  });
}
