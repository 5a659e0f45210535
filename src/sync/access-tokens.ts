import { hash as digest, randomBytes, timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Declaration } from '#contract/declare.ts';
import type { Actor } from '#domain/actor.ts';
import { parseIso, toIso } from '#kernel/clock.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/json.ts';
import {
  changeHomeFile,
  type HomeLine,
  homeFileVersion,
  parseReadableLines,
  readHomeFile,
  toHomeLine,
  toHomeText,
  PRIVATE,
} from './home-file.ts';
import { replaceFile } from './place-file.ts';

export type TokenScope = Declaration['access'];

/** A token as it is kept: everything but the token. */
export interface TokenRecord {
  readonly id: string;
  readonly name: string;
  readonly scope: TokenScope;
  /** Whose it is: one of the two. */
  readonly agent?: string;
  readonly user?: string;
  /** Prefixes of the projects that it is for; all of them where there is none. */
  readonly projects?: readonly string[];
  readonly created_at: string;
  /** From then on it is refused. */
  readonly expires_at?: string;
  readonly revoked_at?: string;
}

/** The one moment in which the token itself is known. */
export type NewToken = TokenRecord & { readonly token: string };

/** Who a token speaks for; the shape that a server's surfaces know as a caller. */
export interface TokenCaller {
  readonly actor: Actor;
  readonly scope: TokenScope;
  /** The record's id. */
  readonly token: string;
  readonly projects?: readonly string[] | undefined;
}

const FILE = 'tokens.jsonl';
const SERVER_TOKEN = 'server-token';
const SCOPES: readonly string[] = ['read', 'task', 'exec', 'admin'] satisfies TokenScope[];

/** In the order they were made, revoked ones too. */
export function listTokens(home: string): TokenRecord[] {
  return readStored(home).map(({ record }) => record);
}

export interface TokenWish {
  readonly name?: string | undefined;
  readonly scope: TokenScope;
  /** An agent's token; a person's when left out. */
  readonly agent?: string | undefined;
  readonly user: string;
  readonly projects?: readonly string[] | undefined;
  /** How long it is good; for ever when left out. */
  readonly lasts_ms?: number | undefined;
  readonly now: number;
}

/** Throws invalid_input for an agent's token that could start programs or change who may do what. */
export function createToken(home: string, wish: TokenWish): Promise<NewToken> {
  checkWish(wish);
  const made = makeToken(wish);
  return changeTokens(home, (lines) => ({
    lines: [...lines, toHomeLine(made.stored)],
    answer: made.answer,
  }));
}

/**
 * A new token in the place of an old one, which is revoked in the same step: what runs on the old one ends. Throws
 * not_found, and state_invalid for one that is revoked already.
 */
export async function rotateToken(home: string, id: string, now: number): Promise<NewToken> {
  const answer = await changeTokens(home, (lines) => {
    const old = getLive(lines, id);
    const { name, scope, agent, user = '', projects } = old.record;
    const made = makeToken({ name, scope, agent, user, projects, lasts_ms: lastsFor(old.record), now });
    return {
      lines: [...lines.with(old.at, toRevokedLine(old, now)), toHomeLine(made.stored)],
      answer: { ...made.answer, in_file: isInServerFile(home, old) },
    };
  });
  const { in_file, ...token } = answer;
  if (in_file) writeServerToken(home, token.token);
  return token;
}

/** Throws not_found, and state_invalid for one that is revoked already. */
export async function revokeToken(home: string, id: string, now: number): Promise<TokenRecord> {
  const { in_file, ...record } = await changeTokens(home, (lines) => {
    const old = getLive(lines, id);
    return {
      lines: lines.with(old.at, toRevokedLine(old, now)),
      answer: { ...old.record, revoked_at: toIso(now), in_file: isInServerFile(home, old) },
    };
  });
  // The next start of a server makes another.
  if (in_file) rmSync(join(home, SERVER_TOKEN), { force: true });
  return record;
}

/**
 * The local user's admin token in a file that only they can read: made by the first server that starts, kept as long
 * as it is good.
 */
export async function ensureServerToken(
  home: string,
  { user, now }: { readonly user: string; readonly now: number },
): Promise<{ readonly path: string; readonly token: string }> {
  const path = join(home, SERVER_TOKEN);
  const there = readHomeFile(home, SERVER_TOKEN)?.trim();
  if (there !== undefined && findTokenCaller(readStored(home), there, now) !== undefined)
    return { path, token: there };
  const { token } = await createToken(home, { name: 'server', scope: 'admin', user, now });
  writeServerToken(home, token);
  return { path, token };
}

/** The token that the first server of this home has made, as its file holds it now; undefined where there is none. */
export function readServerToken(home: string): string | undefined {
  try {
    return readHomeFile(home, SERVER_TOKEN)?.trim();
  } catch {
    return undefined;
  }
}

/** Changes whenever a token was made, rotated or revoked, by any process: one look at the file. */
export function tokensVersion(home: string): string {
  return homeFileVersion(home, FILE) ?? 'none';
}

export interface StoredToken {
  readonly at: number;
  readonly value: JsonObject;
  readonly record: TokenRecord;
  readonly hash: Buffer;
}

/** Every line that is a token. What cannot be read lets nobody in, and takes nothing from the others. */
export function readStored(home: string): StoredToken[] {
  return readTokenLines(home).stored;
}

/** What is wrong with the file of tokens; for people, who have to know why a caller is refused. */
export function listTokenFaults(home: string): ForgeError[] {
  return readTokenFile(home).faults;
}

/** Both at one look. A file that cannot be read at all has no token, and one fault. */
export function readTokenFile(home: string): { stored: StoredToken[]; faults: ForgeError[] } {
  try {
    const { stored, bad } = readTokenLines(home);
    const named = bad.slice(0, FAULTS_NAMED).map((at) => toFault(home, at));
    const more = bad.length - named.length;
    return { stored, faults: more > 0 ? [...named, toMoreFaults(home, more)] : named };
  } catch (error) {
    if (isForgeError(error)) return { stored: [], faults: [error] };
    throw error;
  }
}

/** Lines that are told one by one; the others are counted. */
const FAULTS_NAMED = 20;

function readTokenLines(home: string): { stored: StoredToken[]; bad: number[] } {
  const stored: StoredToken[] = [];
  const bad: number[] = [];
  const lines = parseReadableLines(readHomeFile(home, FILE), join(home, FILE), mayBeToken);
  for (const [at, { text, value }] of lines.entries()) {
    const token = value === undefined ? undefined : toStored(value, at);
    if (token !== undefined) stored.push(token);
    else if (text.trim() !== '') bad.push(at);
  }
  return { stored, bad };
}

/** Every token has its hash; most of what is none is told by that without being parsed. */
function mayBeToken(line: string): boolean {
  return /"hash"\s*:\s*"[0-9a-f]{64}"/.test(line);
}

function toMoreFaults(home: string, more: number): ForgeError {
  const path = join(home, FILE);
  return new ForgeError('invalid_input', `${path} has ${more} more lines that are no tokens`, {
    hint: 'Correct it by hand, or move it away and make new tokens: forge token create --scope task',
    details: { path, lines: more },
  });
}

function toFault(home: string, at: number): ForgeError {
  const path = join(home, FILE);
  return new ForgeError('invalid_input', `${path}, line ${at + 1}, is no token: it lets nobody in`, {
    hint: 'Correct it by hand, or delete it and make a new one: forge token create --scope task',
    details: { path, line: at + 1 },
  });
}

/** Every token is compared whole, so that the time it takes says nothing. */
export function findTokenCaller(
  stored: readonly StoredToken[],
  token: string,
  now: number,
): TokenCaller | undefined {
  const hash = toHash(token);
  const found: TokenRecord[] = [];
  for (const one of stored) if (timingSafeEqual(one.hash, hash)) found.push(one.record);
  // Two lines of one token are the two sides of a merge, or an old copy: what either of them takes away is taken away.
  const [least] = found.toSorted((a, b) => SCOPES.indexOf(a.scope) - SCOPES.indexOf(b.scope));
  return least !== undefined && found.every((one) => isGood(one, now)) ? toCaller(least) : undefined;
}

/** Neither revoked nor at its end. */
export function isGood({ revoked_at, expires_at }: TokenRecord, now: number): boolean {
  return revoked_at === undefined && (expires_at === undefined || now < (parseIso(expires_at) ?? 0));
}

function lastsFor({ created_at, expires_at }: TokenRecord): number | undefined {
  if (expires_at === undefined) return undefined;
  return (parseIso(expires_at) ?? 0) - (parseIso(created_at) ?? 0);
}

function toCaller({ id, scope, agent, user, projects }: TokenRecord): TokenCaller {
  const actor: Actor =
    agent === undefined
      ? { kind: 'user', name: user ?? '', named: true }
      : { kind: 'agent', name: agent, named: true };
  return { actor, scope, token: id, ...(projects !== undefined && { projects }) };
}

function checkWish({ agent, scope }: TokenWish): void {
  if (agent === undefined || scope === 'read' || scope === 'task') return;
  throw new ForgeError('invalid_input', `An agent's token has the scope read or task, not ${scope}`, {
    hint: `forge token create --agent ${agent} --scope task`,
    details: { agent, scope },
  });
}

function makeToken(wish: TokenWish): { stored: JsonObject; answer: NewToken } {
  const { name, scope, agent, user, projects, lasts_ms, now } = wish;
  const token = `fgt_${randomBytes(32).toString('base64url')}`;
  const record = {
    id: randomBytes(6).toString('hex'),
    name: name ?? agent ?? user,
    scope,
    ...(agent === undefined ? { user } : { agent }),
    ...(projects !== undefined && { projects: [...projects] }),
    created_at: toIso(now),
    ...(lasts_ms !== undefined && { expires_at: toIso(now + lasts_ms) }),
  };
  return { stored: { ...record, hash: toHash(token).toString('hex') }, answer: { ...record, token } };
}

/** A fast hash is enough: the token has 256 random bits. */
function toHash(token: string): Buffer {
  return digest('sha256', token, 'buffer');
}

function changeTokens<T>(
  home: string,
  change: (lines: HomeLine[]) => { lines: readonly HomeLine[]; answer: T },
): Promise<T> {
  return changeHomeFile(home, FILE, (text) => {
    const { lines, answer } = change(parseReadableLines(text, join(home, FILE), mayBeToken));
    return { text: toHomeText(lines), answer };
  });
}

function getLive(lines: readonly HomeLine[], id: string): StoredToken {
  const known = parseStored(lines).find(({ record }) => record.id === id);
  if (known === undefined) {
    throw new ForgeError('not_found', `No token ${JSON.stringify(id)}`, {
      hint: 'forge token list',
      details: { id },
    });
  }
  if (known.record.revoked_at === undefined) return known;
  throw new ForgeError('state_invalid', `Token ${id} was revoked at ${known.record.revoked_at}`, {
    hint: 'forge token create --scope task',
    details: { id, revoked_at: known.record.revoked_at },
  });
}

function toRevokedLine({ value }: StoredToken, now: number): HomeLine {
  return toHomeLine({ ...value, revoked_at: toIso(now) });
}

function isInServerFile(home: string, { hash }: StoredToken): boolean {
  const text = readHomeFile(home, SERVER_TOKEN)?.trim();
  return text !== undefined && timingSafeEqual(toHash(text), hash);
}

function writeServerToken(home: string, token: string): void {
  replaceFile(join(home, SERVER_TOKEN), `${token}\n`, PRIVATE);
}

function parseStored(lines: readonly HomeLine[]): StoredToken[] {
  return lines.flatMap(({ value }, at) => (value === undefined ? [] : (toStored(value, at) ?? [])));
}

/** Undefined for a line that cannot be understood: it must not be taken for a token with other rights. */
function toStored(value: JsonObject, at: number): StoredToken | undefined {
  const { id, name, scope, agent, user, projects, created_at, expires_at, revoked_at, hash } = value;
  const texts = [id, name, created_at].every((part) => typeof part === 'string' && part !== '');
  const owners = [agent, user].filter((part) => typeof part === 'string' && part !== '');
  const isScope = typeof scope === 'string' && SCOPES.includes(scope);
  const isHash = typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash);
  const isEnd = revoked_at === undefined || typeof revoked_at === 'string';
  const isTimed =
    expires_at === undefined || (typeof expires_at === 'string' && parseIso(expires_at) !== undefined);
  const isPlaced =
    projects === undefined || (Array.isArray(projects) && projects.every((one) => typeof one === 'string'));
  if (!texts || owners.length !== 1 || !isScope || !isHash || !isEnd || !isTimed || !isPlaced)
    return undefined;
  const record = {
    id,
    name,
    scope,
    ...(typeof agent === 'string' ? { agent } : { user }),
    ...(projects !== undefined && { projects }),
    created_at,
    ...(expires_at !== undefined && { expires_at }),
    ...(revoked_at !== undefined && { revoked_at }),
  } as TokenRecord; // each part was just checked
  return { at, value, record, hash: Buffer.from(hash, 'hex') };
}
