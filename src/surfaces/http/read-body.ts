import type { IncomingMessage } from 'node:http';
import { BodyScan } from '#kernel/body-scan.ts';
import { findDoubleKey } from '#kernel/double-key.ts';
import { ForgeError } from '#kernel/errors.ts';
import { type Json, type JsonObject, parseScanned } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { OneATurn } from '#kernel/one-a-turn.ts';
import { HTTP_LIMITS } from './limits.ts';

/** Keys that are somebody else's idea of where an object keeps its class. */
const FORBIDDEN_KEYS = ['__proto__', 'constructor'];

/** A body as it came, and what was seen of it while it did. */
export interface ReadBody {
  readonly bytes: Buffer;
  readonly scan: BodyScan;
}

export const NO_BODY: ReadBody = { bytes: Buffer.alloc(0), scan: new BodyScan(HTTP_LIMITS.json_depth) };

/**
 * Throws too_large before a limit is passed by much, with any length that was announced, and invalid_input for a
 * body that is nested too deep. The caller parses it in the same turn: large ones come one by one.
 */
export async function readBody(request: IncomingMessage, turns: OneATurn): Promise<ReadBody> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > HTTP_LIMITS.body_bytes) throw tooLarge();
  const parts: Buffer[] = [];
  const scan = new BodyScan(HTTP_LIMITS.json_depth);
  let size = 0;
  try {
    for await (const part of request.iterator({ destroyOnReturn: false })) {
      const bytes = part as Buffer; // no encoding was set
      size += bytes.length;
      if (size > HTTP_LIMITS.body_bytes) throw tooLarge();
      scan.take(bytes);
      parts.push(bytes);
    }
  } catch (cause) {
    if (cause instanceof ForgeError) throw cause;
    throw new ForgeError('interrupted', 'The request ended before its end', { cause });
  }
  // To put together and to read what is large takes milliseconds, which must not add up with those of other bodies.
  if (size > LIMITS.quick_body_bytes) await turns.wait();
  const bytes = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  return { bytes, scan };
}

/** The object that a request speaks of; an empty body is an empty one. Throws invalid_input. */
export function parseBody({ bytes, scan }: ReadBody): JsonObject {
  if (bytes.length === 0) return {};
  const text = decode(bytes);
  const sources = scan.oddNumbers.map(([from, to]) => bytes.toString('latin1', from, to));
  const value = parseScanned(text, 'The body', { has_escaped_key: scan.hasEscapedKey, sources });
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ForgeError('invalid_input', 'The body must be a JSON object');
  // Of two members with one key only the last is left, so that counting tells, and nothing is read twice.
  if (checkContent(value) !== scan.members) throw doubleKey(text);
  return value as JsonObject;
}

/** Also for the names of a query. */
export function checkKey(key: string): void {
  if (FORBIDDEN_KEYS.includes(key)) {
    throw new ForgeError('invalid_input', `A key must not be called ${key}`, { details: { field: key } });
  }
  if (!key.isWellFormed()) throw new ForgeError('invalid_input', 'A key holds half of a character');
}

/** Somebody in front of us may have looked at the one that we do not see. */
function doubleKey(text: string): ForgeError {
  const path = findDoubleKey(text) ?? '';
  const field = path.length > 80 ? `${path.slice(0, 80)}…` : path;
  return new ForgeError('invalid_input', `${JSON.stringify(field)} is given more than once`, {
    details: { field },
  });
}

function tooLarge(): ForgeError {
  return new ForgeError('too_large', `The body has more than ${HTTP_LIMITS.body_bytes} bytes`, {
    details: { limit: HTTP_LIMITS.body_bytes },
  });
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ForgeError('invalid_input', 'The body is not UTF-8', { cause });
  }
}

/** How many members the value has, at all levels. */
function checkContent(value: Json): number {
  if (typeof value === 'string' && !value.isWellFormed())
    throw new ForgeError('invalid_input', 'A text holds half of a character (a lone surrogate)');
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (const one of value as readonly Json[]) members += checkContent(one);
    return members;
  }
  for (const [key, one] of Object.entries(value as JsonObject)) {
    checkKey(key);
    members += 1 + checkContent(one);
  }
  return members;
}
