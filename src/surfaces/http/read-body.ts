import type { IncomingMessage } from 'node:http';
import { findDoubleKey } from '#kernel/double-key.ts';
import { ForgeError } from '#kernel/errors.ts';
import { type Json, type JsonObject, parseJson } from '#kernel/json.ts';
import { HTTP_LIMITS } from './limits.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** Keys that are somebody else's idea of where an object keeps its class. */
const FORBIDDEN_KEYS = ['__proto__', 'constructor'];

/** Throws too_large before the limit is passed by much, whatever the length that was announced. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > HTTP_LIMITS.body_bytes) throw tooLarge();
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of request.iterator({ destroyOnReturn: false })) {
      const bytes = part as Buffer; // no encoding was set
      size += bytes.length;
      if (size > HTTP_LIMITS.body_bytes) throw tooLarge();
      parts.push(bytes);
    }
  } catch (cause) {
    if (cause instanceof ForgeError) throw cause;
    throw new ForgeError('interrupted', 'The request ended before its end', { cause });
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
}

/** The object that a request speaks of; an empty body is an empty one. Throws invalid_input. */
export function parseBody(bytes: Buffer): JsonObject {
  if (bytes.length === 0) return {};
  const written = checkDepth(bytes);
  const text = decode(bytes);
  const value = parseJson(text, 'The body');
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ForgeError('invalid_input', 'The body must be a JSON object');
  // Of two members with one key only the last is left, so that counting tells, and nothing is read twice.
  if (checkContent(value) !== written) throw doubleKey(text);
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

/**
 * Before anything is built: a parser that builds a million levels is the one that fails. How many members the text has,
 * if it is JSON.
 */
function checkDepth(bytes: Buffer): number {
  let depth = 0;
  let members = 0;
  let quoted = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (quoted) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) quoted = false;
    } else if (byte === QUOTE) quoted = true;
    else if (byte === COLON) members += 1;
    else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      if (depth > HTTP_LIMITS.json_depth) {
        throw new ForgeError(
          'invalid_input',
          `The body is nested deeper than ${HTTP_LIMITS.json_depth} levels`,
          {
            details: { limit: HTTP_LIMITS.json_depth },
          },
        );
      }
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
  }
  return members;
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
