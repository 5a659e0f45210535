import type { Clock } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';

/** A client may ask again and again while the server is too busy: of those answers one is told in so long. */
const BUSY_EVERY_MS = 10_000;

export interface RequestFailure {
  readonly request_id: string;
  readonly error: unknown;
}

/** A line for each request that failed; of answers that the server is busy, one now and then with the number of the others. */
export function createFailureTeller(
  clock: Clock,
  { notice, toMessage }: { notice: (line: string) => void; toMessage: (error: unknown) => string },
): (failure: RequestFailure) => void {
  let [told_at, untold] = [-Infinity, 0];
  return ({ request_id, error }) => {
    const line = `request ${request_id} failed: ${toMessage(error)}`;
    if (!isForgeError(error) || error.code !== 'server_busy') return notice(line);
    const now = clock.now();
    // A clock that was set back must not silence the log.
    if (now >= told_at && now - told_at < BUSY_EVERY_MS) {
      untold += 1;
      return;
    }
    notice(untold === 0 ? line : `${line} (and ${untold} more since the last such line)`);
    [told_at, untold] = [now, 0];
  };
}
