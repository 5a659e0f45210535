import { decideRequest } from '#domain/decide-request.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { IdempotencyStore, RequestKey } from '../idempotency-store.ts';
import { toKey, type MemoryTables } from './memory-tables.ts';

export function memoryRequests({ requests, journal }: MemoryTables): IdempotencyStore {
  const keyOf = ({ token, key }: RequestKey): string => toKey(token, key);
  return {
    beginRequest: async (request) =>
      journal.keep(() => {
        const { token, key, digest, now } = request;
        for (const { began_at, ...old } of requests.list())
          if (began_at <= now - LIMITS.idempotency_ms) requests.delete(toKey(old.token, old.key));
        const decision = decideRequest(requests.get(keyOf(request)), digest);
        if (decision.outcome === 'new')
          requests.set(keyOf(request), { token, key, digest, began_at: now, answer: undefined });
        return decision;
      }),
    finishRequest: async (request, answer) =>
      journal.keep(() => {
        const known = requests.get(keyOf(request));
        if (known !== undefined && known.answer === undefined)
          requests.set(keyOf(request), { ...known, answer });
      }),
    dropRequest: async (request) =>
      journal.keep(() => {
        if (requests.get(keyOf(request))?.answer === undefined) requests.delete(keyOf(request));
      }),
  };
}
