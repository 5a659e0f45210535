import { LIMITS } from '#kernel/limits.ts';
import type { IdempotencyStore, KeptAnswer, RequestKey, RequestOutcome } from '#store/idempotency-store.ts';

export type RequestMemory = Pick<IdempotencyStore, 'beginRequest' | 'finishRequest' | 'dropRequest'>;

/** More than a server without a project is asked within a day; the oldest are forgotten first. */
const KEPT = 1_000;

interface Remembered {
  readonly digest: string;
  readonly began_at: number;
  answer?: KeptAnswer;
}

/** The same contract as the store's, for as long as the process lives. */
export function createRequestMemory(): RequestMemory {
  const known = new Map<string, Remembered>();
  const toName = ({ token, key }: RequestKey): string => `${token} ${key}`;
  const begin = (request: RequestKey): RequestOutcome => {
    for (const [name, { began_at }] of known) {
      if (began_at > request.now - LIMITS.idempotency_ms && known.size <= KEPT) break;
      known.delete(name);
    }
    const before = known.get(toName(request));
    if (before === undefined) {
      known.set(toName(request), { digest: request.digest, began_at: request.now });
      return { outcome: 'new' };
    }
    if (before.digest !== request.digest) return { outcome: 'conflict' };
    const { answer, began_at } = before;
    return answer === undefined ? { outcome: 'pending', began_at } : { outcome: 'done', answer };
  };
  return {
    beginRequest: async (request) => begin(request),
    async finishRequest(request, answer) {
      const before = known.get(toName(request));
      if (before !== undefined) before.answer ??= answer;
    },
    async dropRequest(request) {
      if (known.get(toName(request))?.answer === undefined) known.delete(toName(request));
    },
  };
}
