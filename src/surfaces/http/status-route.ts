import { ForgeError } from '#kernel/errors.ts';
import type { HttpDeps } from './http-ports.ts';
import { type OwnRoute, toJsonAnswer } from './own-route.ts';
import { readKnownQuery } from './request-input.ts';

export const STATUS_PATH = '/api/status';

/** Random enough that no answer can be kept for later, and short. */
const CHALLENGE = /^[0-9a-f]{32,128}$/;

/**
 * Whether the server lives. A client that holds the server's own token asks with a challenge whether the listener is that
 * server, before it sends the token.
 */
export function createStatusRoute(prove: HttpDeps['prove']): OwnRoute {
  return {
    method: 'GET',
    path: STATUS_PATH,
    summary: 'Whether the server lives',
    open: true,
    output: {
      type: 'object',
      properties: { status: { const: 'ok' }, proof: { type: 'string' } },
      required: ['status'],
    },
    answer({ exchange, target }) {
      const { challenge } = readKnownQuery(target.query, ['challenge']);
      if (challenge === undefined) return toJsonAnswer({ status: 'ok' });
      if (!CHALLENGE.test(challenge))
        throw new ForgeError('invalid_input', 'A challenge has 32 to 128 digits of hex', {
          details: { field: 'challenge' },
        });
      const proof = prove?.(challenge, exchange.request.socket);
      return toJsonAnswer({ status: 'ok', ...(proof !== undefined && { proof }) });
    },
  };
}
