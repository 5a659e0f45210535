import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '#kernel/clock.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Caller } from '#access/caller.ts';
import { HTTP_LIMITS } from './limits.ts';

export interface BrowserSession {
  /** A name for it that opens nothing. */
  readonly id: string;
  readonly caller: Caller;
  readonly csrf: string;
  readonly expires_at: number;
}

/**
 * Sessions of browsers, in memory: they end with the server. A person with a token asks for a link that is good once
 * and for a minute; whoever opens it gets the cookie. Secrets are kept as hashes.
 */
export interface BrowserSessions {
  readonly cookie_name: string;
  /** Throws permission_denied for an agent: a browser is a person's. */
  createCode(caller: Caller): { readonly code: string; readonly expires_at: string };
  /** A session and the text of its cookie. Throws unauthorized, and too_many_requests after many failures. */
  login(code: string): { readonly session: BrowserSession; readonly cookie: string };
  /** By the lines of the Cookie header. */
  find(cookies: readonly string[]): BrowserSession | undefined;
  isCsrf(session: BrowserSession, text: string): boolean;
  end(id: string): void;
}

export function createBrowserSessions({
  clock,
  port,
  scheme,
}: {
  readonly clock: Clock;
  readonly port: number;
  readonly scheme: 'http' | 'https';
}): BrowserSessions {
  // Cookies do not know ports: two servers on one machine must not take each other's.
  const name = `forge_session_${port}`;
  const codes = new Map<string, { readonly caller: Caller; readonly expires_at: number }>();
  const sessions = new Map<string, BrowserSession>();
  const failures: number[] = [];

  return {
    cookie_name: name,
    createCode(caller) {
      if (caller.actor.kind !== 'user')
        throw new ForgeError('permission_denied', "A browser session needs a person's token");
      const now = clock.now();
      dropOld(codes, now, { most: HTTP_LIMITS.login_codes, token: caller.token });
      const code = randomText();
      const expires_at = now + HTTP_LIMITS.login_code_ms;
      codes.set(toKey(code), { caller, expires_at });
      return { code, expires_at: toIso(expires_at) };
    },
    login(code) {
      const now = clock.now();
      while (failures[0] !== undefined && failures[0] <= now - HTTP_LIMITS.login_window_ms) failures.shift();
      const known = codes.get(toKey(code));
      codes.delete(toKey(code));
      // A good link opens after all that others have tried: its 256 bits cannot be guessed, and a limit would lock its owner out.
      if (known === undefined || known.expires_at <= now) {
        if (failures.length >= HTTP_LIMITS.login_tries) {
          throw new ForgeError('too_many_requests', 'Too many failed logins; wait a minute', {
            details: { retry_after_s: Math.ceil(HTTP_LIMITS.login_window_ms / 1000) },
          });
        }
        failures.push(now);
        throw new ForgeError('unauthorized', 'This link is not good any more', {
          hint: 'Ask for a new one: POST /api/v1/sessions',
        });
      }
      dropOld(sessions, now, { most: HTTP_LIMITS.sessions, token: known.caller.token });
      const secret = randomText();
      const expires_at = now + HTTP_LIMITS.session_ms;
      const session = { id: toKey(secret), caller: known.caller, csrf: randomText(), expires_at };
      sessions.set(session.id, session);
      const secure = scheme === 'https' ? '; Secure' : '';
      return { session, cookie: `${name}=${secret}; Path=/; HttpOnly; SameSite=Strict${secure}` };
    },
    find(cookies) {
      const secret = readCookie(cookies, name);
      if (secret === undefined) return undefined;
      const session = sessions.get(toKey(secret));
      if (session === undefined || session.expires_at > clock.now()) return session;
      sessions.delete(session.id);
      return undefined;
    },
    isCsrf: (session, text) => timingSafeEqual(toHash(session.csrf), toHash(text)),
    end: (id) => void sessions.delete(id),
  };
}

/** What is over goes. Where there are too many, the oldest of the token with the most goes: no token drives out others'. */
function dropOld(
  kept: Map<string, { readonly expires_at: number; readonly caller: Caller }>,
  now: number,
  { most, token }: { readonly most: number; readonly token: string },
): void {
  for (const [key, { expires_at }] of kept) if (expires_at <= now) kept.delete(key);
  while (kept.size >= most) {
    const counts = new Map([[token, 1]]);
    for (const { caller } of kept.values()) counts.set(caller.token, (counts.get(caller.token) ?? 0) + 1);
    const [greediest] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a));
    const [oldest = ''] = [...kept].find(([, { caller }]) => caller.token === greediest) ?? [];
    if (!kept.delete(oldest)) return;
  }
}

/** Undefined also where two cookies bear the name: one of them was planted. */
function readCookie(lines: readonly string[], name: string): string | undefined {
  const values = lines
    .flatMap((line) => line.split(';'))
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`));
  return values.length === 1 ? values[0]?.slice(name.length + 1) : undefined;
}

function randomText(): string {
  return randomBytes(32).toString('base64url');
}

function toHash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function toKey(text: string): string {
  return toHash(text).toString('hex');
}
