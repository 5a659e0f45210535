import type { IncomingMessage } from 'node:http';
import { ERROR_CODES, isForgeError, toErrorBody, type ErrorBody } from '#kernel/errors.ts';
import type { Answer, Exchange } from './answer.ts';
import { rawValues } from './guard-request.ts';
import type { CallPlace } from './http-ports.ts';
import { HTTP_LIMITS } from './limits.ts';

/** How a request that was answered before its end came to it. */
export interface LateOutcome {
  readonly request_id: string;
  readonly operation: string;
  readonly status: number;
  readonly error?: ErrorBody | undefined;
}

/** Tells the feed of the request's project. */
export type TellLate = (place: CallPlace, outcome: LateOutcome) => Promise<void>;

/** `Prefer: respond-async`, alone or among others. */
export function prefersAsync(request: IncomingMessage): boolean {
  return rawValues(request, 'prefer')
    .flatMap((line) => line.split(','))
    .some((one) => one.trim().toLowerCase() === 'respond-async');
}

/**
 * Work that may take minutes: a gate that runs somebody's tests, a merge. Whoever waits hears from time to time that
 * the server is still at it; whoever does not want to wait, or has waited for the longest that is allowed, is told that
 * the request was taken, and the feed tells how it ended. The work goes on in either case.
 */
export async function answerLong(
  exchange: Exchange,
  place: CallPlace,
  {
    work,
    tell,
    wait_ms = HTTP_LIMITS.long_answer_ms,
  }: { readonly work: Promise<Answer>; readonly tell: TellLate; readonly wait_ms?: number | undefined },
): Promise<Answer> {
  const { request, response, request_id } = exchange;
  const late = (): Answer => {
    // Nobody waits any more; what the operation itself did is in the feed in any case.
    tellEnd(work, place, { request_id, tell }).catch(() => undefined);
    return {
      status: 202,
      body: JSON.stringify({ request_id, operation: place.name }),
      headers: { 'Preference-Applied': 'respond-async' },
    };
  };
  if (prefersAsync(request)) return late();
  const beat = setInterval(() => {
    if (!response.headersSent && response.writable) response.writeProcessing();
  }, HTTP_LIMITS.long_beat_ms);
  let limit: NodeJS.Timeout | undefined;
  const waited = new Promise<undefined>((resolve) => {
    limit = setTimeout(() => resolve(undefined), wait_ms);
  });
  try {
    return (await Promise.race([work, waited])) ?? late();
  } finally {
    clearInterval(beat);
    clearTimeout(limit);
  }
}

async function tellEnd(
  work: Promise<Answer>,
  place: CallPlace,
  { request_id, tell }: { readonly request_id: string; readonly tell: TellLate },
): Promise<void> {
  const outcome = await work.then(
    ({ status }) => ({ status }),
    (error: unknown) => {
      const body = toErrorBody(error);
      const status = isForgeError(error) ? ERROR_CODES[error.code].http : 500;
      return { status, error: body };
    },
  );
  await tell(place, { request_id, operation: place.name, ...outcome });
}
