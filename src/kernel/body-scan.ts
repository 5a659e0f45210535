import { ForgeError } from './errors.ts';
import { LIMITS } from './limits.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;

/**
 * Counts what a body would be built of, byte by byte while it arrives, so that no other request waits for it: reading
 * two megabytes of small values takes seconds, counting them takes two milliseconds, in many small pieces.
 */
export class BodyScan {
  readonly #deepest: number;
  #depth = 0;
  #values = 0;
  #members = 0;
  #isQuoted = false;
  #isEscaped = false;

  constructor(deepest: number) {
    this.#deepest = deepest;
  }

  /** How many members the text has, if it is JSON. */
  get members(): number {
    return this.#members;
  }

  /** Throws invalid_input for a body that is nested too deep, too_large for one with too many values. */
  take(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isQuoted) {
        if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isQuoted = false;
      } else if (byte === QUOTE) this.#isQuoted = true;
      else if (byte === COMMA) this.#values += 1;
      else if (byte === COLON) this.#members += 1;
      else if (byte === 0x5b || byte === 0x7b) {
        this.#values += 1;
        this.#depth += 1;
        if (this.#depth > this.#deepest) throw tooDeep(this.#deepest);
      } else if (byte === 0x5d || byte === 0x7d) this.#depth -= 1;
    }
    if (this.#values > LIMITS.body_values) throw tooMany('values', LIMITS.body_values);
    if (this.#members > LIMITS.body_keys) throw tooMany('keys', LIMITS.body_keys);
  }
}

function tooDeep(limit: number): ForgeError {
  return new ForgeError('invalid_input', `The body is nested deeper than ${limit} levels`, {
    details: { limit },
  });
}

function tooMany(what: string, limit: number): ForgeError {
  return new ForgeError('too_large', `The body has more than ${limit} ${what}`, {
    hint: 'Send it in several requests',
    details: { limit },
  });
}
