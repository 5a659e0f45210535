import { ForgeError, isForgeError } from '#kernel/errors.ts';
import type { Exchange } from './answer.ts';

const LOOK_MS = 500;

/**
 * Aborted when nobody may have the answer any more: the client went away before it had it, or its token was revoked
 * while it waited. Looked at twice a second, as the streams of events are.
 */
export function openCallSignal(
  { response }: Pick<Exchange, 'response'>,
  isAlive: () => boolean,
): AbortSignal {
  const ending = new AbortController();
  const timer = setInterval(() => {
    if (!isAlive()) ending.abort(new ForgeError('unauthorized', 'The token was revoked while this waited'));
  }, LOOK_MS).unref();
  response.once('close', () => {
    clearInterval(timer);
    if (!response.writableFinished) ending.abort();
  });
  return ending.signal;
}

/** What the caller is told in the place of the error that the end of its call led to, where it is told anything. */
export function toEndError(signal: AbortSignal | undefined): ForgeError | undefined {
  const reason: unknown = signal?.reason;
  return isForgeError(reason) ? reason : undefined;
}
