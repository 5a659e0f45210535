import { assert } from '#kernel/assert.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Caller } from '#access/caller.ts';
import type { Answer } from './answer.ts';
import type { BrowserSessions } from './browser-sessions.ts';
import { rawValues } from './guard-request.ts';
import { API } from './operation-routes.ts';
import { type OwnRequest, type OwnRoute, takesNothing, toJsonAnswer } from './own-route.ts';
import { readKnownQuery } from './request-input.ts';

const text = { type: 'string' } as const;

/** From a token to a browser session and back out of it. */
export function listSessionRoutes(sessions: BrowserSessions, scheme: string): OwnRoute[] {
  return [
    {
      method: 'POST',
      path: `${API}/sessions`,
      summary: 'Make a link that opens a browser session: good once, for a minute',
      ok: 201,
      output: {
        type: 'object',
        properties: { url: text, expires_at: text },
        required: ['url', 'expires_at'],
      },
      answer: takesNothing(({ caller, exchange }) => {
        const { code, expires_at } = sessions.createCode(known(caller));
        const [host = ''] = rawValues(exchange.request, 'host');
        return toJsonAnswer({ url: `${scheme}://${host}/login?code=${code}`, expires_at }, 201);
      }),
    },
    {
      method: 'GET',
      path: `${API}/session`,
      summary: 'Who asks; in a browser session also the value of its Forge-Csrf header',
      output: {
        type: 'object',
        properties: { actor: text, scope: text, csrf: text, expires_at: text },
        required: ['actor', 'scope'],
      },
      answer: takesNothing(({ caller, session, exchange }) => {
        const { actor, scope } = known(caller);
        const who = { actor: `${actor.kind}:${actor.name}`, scope };
        if (session === undefined) return toJsonAnswer(who);
        const own = sessions.find(rawValues(exchange.request, 'cookie'));
        assert(own !== undefined, 'the session that was just admitted is there');
        return toJsonAnswer({ ...who, csrf: own.csrf, expires_at: toIso(own.expires_at) });
      }),
    },
    {
      method: 'DELETE',
      path: `${API}/session`,
      summary: 'End the browser session that asks',
      output: { type: 'object', properties: { ended: { type: 'boolean' } }, required: ['ended'] },
      answer: takesNothing(({ session }) => {
        if (session === undefined)
          throw new ForgeError('invalid_input', 'A token is no session', { hint: 'forge token revoke <id>' });
        sessions.end(session);
        return toJsonAnswer({ ended: true });
      }),
    },
    {
      method: 'GET',
      path: '/login',
      summary: 'Opens the session of a link',
      open: true,
      hidden: true,
      answer: (request) => login(request, sessions),
    },
  ];
}

function login({ exchange: { request }, target }: OwnRequest, sessions: BrowserSessions): Answer {
  const from = request.headers['sec-fetch-site'];
  // A page of another site could otherwise spend the tries of everybody.
  if (from !== undefined && from !== 'none' && from !== 'same-origin')
    throw new ForgeError('permission_denied', 'Open the link by hand, not from another page');
  const { code = '' } = readKnownQuery(target.query, ['code']);
  // Programs that look at links must not use them up.
  if (target.method === 'HEAD') return { status: 200, body: '' };
  const { cookie } = sessions.login(code);
  return { status: 303, body: '', headers: { Location: '/', 'Set-Cookie': cookie } };
}

function known(caller: Caller | undefined): Caller {
  assert(caller !== undefined, 'a route that is not open has a caller');
  return caller;
}
