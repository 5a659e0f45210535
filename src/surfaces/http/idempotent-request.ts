import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '#kernel/clock.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Answer } from './answer.ts';
import { rawValues, type Target } from './guard-request.ts';
import type { CallPlace, IdempotencyPort, RememberedRequest, StoredAnswer } from './http-ports.ts';
import { HTTP_LIMITS } from './limits.ts';

/** The Idempotency-Key of a request, undefined where it has none. Throws invalid_input for what cannot be one. */
export function readIdempotencyKey(request: IncomingMessage): string | undefined {
  const lines = rawValues(request, 'idempotency-key');
  if (lines.length === 0) return undefined;
  const [key = ''] = lines;
  const fits = key.length <= HTTP_LIMITS.idempotency_key_length && /^[\u0021-\u007e]+$/.test(key);
  if (lines.length === 1 && fits) return key;
  throw new ForgeError(
    'invalid_input',
    `Idempotency-Key is one line of 1 to ${HTTP_LIMITS.idempotency_key_length} visible characters`,
    { details: { limit: HTTP_LIMITS.idempotency_key_length } },
  );
}

/** Everything by which two requests of one key are told apart. */
export function digestRequest({ method, path, query }: Target, body: Buffer): string {
  return createHash('sha256').update(`${method} ${path}?${query}\n`).update(body).digest('base64url');
}

/**
 * Does `work` unless the same was done before: then its answer, marked as a replay. What failed on our side, or may
 * well succeed the next time, is not kept. Throws idempotency_conflict for a key of another request, and for one whose
 * outcome nobody knows.
 */
export async function answerOnce(
  {
    port,
    clock,
    place,
    toKept = (answer) => answer,
  }: {
    readonly port: IdempotencyPort;
    readonly clock: Clock;
    readonly place: CallPlace;
    /** What is kept in the place of an answer that must not be. */
    readonly toKept?: ((answer: Answer) => Answer) | undefined;
  },
  key: Omit<RememberedRequest, 'now'>,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const request = { ...key, now: clock.now() };
  const known = await port.begin(place, request);
  switch (known.outcome) {
    case 'done':
      return { ...known.answer, headers: { ...known.answer.headers, 'Idempotent-Replay': 'true' } };
    case 'conflict':
      throw new ForgeError('idempotency_conflict', 'This Idempotency-Key was used for another request', {
        hint: 'Take a new key for a new request',
        details: { key: key.key },
      });
    case 'pending':
      throw new ForgeError(
        'idempotency_conflict',
        `A request with this Idempotency-Key began at ${toIso(known.began_at)}, and its outcome is not known: it is at work, or the server was stopped in the middle of it`,
        {
          hint: 'Look whether it happened; then go on, or send it again with a new key',
          details: { key: key.key, began_at: toIso(known.began_at) },
        },
      );
    case 'new':
      return keep(await work(), toKept, { port, place, request });
  }
}

async function keep(
  answer: Answer,
  toKept: (answer: Answer) => Answer,
  { port, place, request }: { port: IdempotencyPort; place: CallPlace; request: RememberedRequest },
): Promise<Answer> {
  const { status, code } = answer;
  const passing = status >= 500 || [408, 429, 499].includes(status) || code === 'wait_timeout';
  if (passing) await port.drop(place, request);
  // It has happened: the answer is worth more than its copy, without which the key stays begun.
  else await port.finish(place, request, toStored(toKept(answer))).catch(() => undefined);
  return answer;
}

function toStored({ status, body, headers = {} }: Answer): StoredAnswer {
  return { status, headers, body: body.toString() };
}
