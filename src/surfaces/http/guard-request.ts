import type { IncomingMessage } from 'node:http';
import { ForgeError } from '#kernel/errors.ts';
import type { Caller } from '#access/caller.ts';
import { decideAdmission } from '#access/decide-admission.ts';
import { explainUnadmitted } from '#access/explain-access.ts';
import type { BrowserSessions } from './browser-sessions.ts';
import type { AccessPort, OriginFacts } from './http-ports.ts';
import { HTTP_LIMITS } from './limits.ts';

/** What every request has to pass before anything of it is used, in this order. */

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

export interface Target {
  readonly method: Method;
  /** As it was sent, still encoded. */
  readonly path: string;
  readonly query: string;
}

/** The names under which the server may be asked for, as a Host line spells them. */
export function listOwnHosts({ scheme, host, port, names = [] }: OriginFacts): ReadonlySet<string> {
  const loopback = ['127.0.0.1', 'localhost', '[::1]'];
  const bare = [...loopback, ...(isWildcard(host) ? [] : [toHostName(host)]), ...names.map(toHostName)];
  const isDefault = port === (scheme === 'https' ? 443 : 80);
  return new Set(bare.flatMap((name) => [`${name}:${port}`, ...(isDefault ? [name] : [])]));
}

/** Throws misdirected, invalid_input, permission_denied, method_not_allowed and what is too large. */
export function guardRequest(
  request: IncomingMessage,
  { hosts, scheme }: { readonly hosts: ReadonlySet<string>; readonly scheme: string },
): Target {
  checkHeaderCount(request);
  const host = checkHost(request, hosts);
  const { path, query } = checkTarget(request.url ?? '');
  checkOrigin(request, `${scheme}://${host}`);
  return { method: checkMethod(request.method ?? ''), path, query };
}

/** A form, an image or a script of another site can send everything but this type. */
export function checkJsonType(request: IncomingMessage): void {
  const types = rawValues(request, 'content-type');
  const isJson =
    types.length === 1 && /^application\/json(?:[ \t]*;[ \t]*charset="?utf-8"?)?$/i.test(types[0] ?? '');
  const encoding = request.headers['content-encoding'];
  if (isJson && (encoding === undefined || encoding === 'identity')) return;
  throw new ForgeError('unsupported_media_type', 'A request that changes something is application/json', {
    hint: "curl -H 'content-type: application/json' …",
    details: {},
  });
}

export interface Admission {
  readonly caller: Caller;
  /** The browser session, where no token was sent. */
  readonly session?: string;
}

/**
 * The token of the Authorization header, or a browser's session: that alone only reads, and changes something only
 * together with the session's own Forge-Csrf header. Nothing in the address is ever looked at. Throws unauthorized.
 */
export function admit(
  request: IncomingMessage,
  method: Method,
  { access, sessions }: { readonly access: AccessPort; readonly sessions: BrowserSessions },
): Admission {
  const lines = rawValues(request, 'authorization');
  const token = lines.length === 1 ? /^Bearer +([\w.~+/=-]+)$/i.exec(lines[0] ?? '')?.[1] : undefined;
  const caller = token === undefined ? undefined : access.findCaller(token);
  const session = lines.length > 0 ? undefined : sessions.find(rawValues(request, 'cookie'));
  const csrf = rawValues(request, 'forge-csrf');
  const decision = decideAdmission({
    token: lines.length === 0 ? 'none' : caller === undefined ? 'unknown' : 'known',
    session: session !== undefined && access.isAlive(session.caller),
    csrf: session !== undefined && csrf.length === 1 && sessions.isCsrf(session, csrf[0] ?? ''),
    changes: method !== 'GET' && method !== 'HEAD',
  });
  if (decision.outcome === 'by_token' && caller !== undefined) return { caller };
  if (decision.outcome === 'by_session' && session !== undefined)
    return { caller: session.caller, session: session.id };
  throw explainUnadmitted(decision.outcome === 'refused' ? decision.why : 'A token is needed');
}

/** Values of every line of this name; Node itself shows only the first of some. */
export function rawValues(request: IncomingMessage, name: string): string[] {
  const { rawHeaders } = request;
  const found: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name) found.push(rawHeaders[at + 1] ?? '');
  }
  return found;
}

function checkHeaderCount({ rawHeaders }: IncomingMessage): void {
  const count = rawHeaders.length / 2;
  if (count <= HTTP_LIMITS.header_count) return;
  throw new ForgeError('headers_too_large', `More than ${HTTP_LIMITS.header_count} header lines`, {
    details: { limit: HTTP_LIMITS.header_count },
  });
}

/** Exactly one of our own names: a page whose name was pointed at this machine sends its own. */
function checkHost(request: IncomingMessage, hosts: ReadonlySet<string>): string {
  const lines = rawValues(request, 'host');
  if (lines.length > 1) throw new ForgeError('invalid_input', 'More than one Host line');
  const [host = ''] = lines;
  if (hosts.has(host)) return host;
  throw new ForgeError('misdirected', 'This server does not go by the name in the Host line', {
    hint: `Ask for ${[...hosts][0] ?? ''}, or start the server with that name`,
    details: {},
  });
}

function checkTarget(url: string): { path: string; query: string } {
  if (url.length > HTTP_LIMITS.url_bytes) {
    throw new ForgeError('url_too_long', `The address has more than ${HTTP_LIMITS.url_bytes} bytes`, {
      details: { limit: HTTP_LIMITS.url_bytes },
    });
  }
  // Neither `http://other/` nor `*`, and nothing that two readers could read in two ways.
  if (!/^\/[\u0021-\u007e]*$/.test(url) || url.includes('#') || url.startsWith('//'))
    throw new ForgeError('invalid_input', 'The address is not a path of this server');
  const mark = url.indexOf('?');
  return mark === -1 ? { path: url, query: '' } : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}

function checkOrigin(request: IncomingMessage, own: string): void {
  const lines = rawValues(request, 'origin');
  if (lines.length === 0 || (lines.length === 1 && lines[0] === own)) return;
  throw new ForgeError('permission_denied', 'The request comes from a page of another origin', {
    details: {},
  });
}

function checkMethod(method: string): Method {
  const known = METHODS.find((one) => one === method);
  if (known !== undefined) return known;
  throw new ForgeError('method_not_allowed', 'This method is not used here', {
    details: { allow: METHODS.join(', ') },
  });
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === '';
}

/** An IPv6 address stands in brackets. */
function toHostName(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host.toLowerCase();
}
