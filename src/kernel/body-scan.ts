import { ForgeError } from './errors.ts';
import { EXACT_LENGTH, tooDeep } from './json.ts';
import { LIMITS } from './limits.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const BLANK = 0x20;
const MINUS = 0x2d;
const ZERO = 0x30;
const LETTER = 0x7a;

/**
 * Counts what a body would be built of, byte by byte while it arrives, so that no other request waits for it: reading
 * two megabytes of small values takes seconds, counting them takes two milliseconds, in many small pieces.
 */
export class BodyScan {
  readonly #deepest: number;
  readonly #longest: number;
  #depth = 0;
  #values = 0;
  #members = 0;
  #isQuoted = false;
  #isEscaped = false;
  #isEscapedText = false;
  #hasEscapedKey = false;
  /** How many bytes were seen. */
  #seen = 0;
  /** Of the number or word that the bytes seen last belong to: its length, its first byte, whether it is odd by now. */
  #length = 0;
  #first = 0;
  #isOdd = false;
  readonly #oddNumbers: (readonly [from: number, to: number])[] = [];

  constructor(deepest: number, longest: number = LIMITS.json_number_length) {
    this.#deepest = deepest;
    this.#longest = longest;
  }

  /** How many members the text has, if it is JSON. */
  get members(): number {
    return this.#members;
  }

  /** Whether a key may hold an escape; see read-json.ts. */
  get hasEscapedKey(): boolean {
    return this.#hasEscapedKey;
  }

  /** Where the numbers stand that a double may not hold as they were written; see json.ts. */
  get oddNumbers(): readonly (readonly [from: number, to: number])[] {
    return this.#oddNumbers;
  }

  /** Throws invalid_input for a body that is nested too deep or has a number too long, too_large for too many values. */
  take(bytes: Uint8Array): void {
    // Counted in variables: the same by fields took five times as long.
    let depth = this.#depth;
    let values = this.#values;
    let members = this.#members;
    let length = this.#length;
    let first = this.#first;
    let isOdd = this.#isOdd;
    let isQuoted = this.#isQuoted;
    let isEscaped = this.#isEscaped;
    let isEscapedText = this.#isEscapedText;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (isEscaped) isEscaped = false;
      else if (isQuoted) {
        if (byte === BACKSLASH) {
          isEscaped = true;
          isEscapedText = true;
        } else if (byte === QUOTE) isQuoted = false;
      } else {
        if (byte === QUOTE) {
          isQuoted = true;
          isEscapedText = false;
        } else if (byte === COMMA) values += 1;
        else if (byte === COLON) {
          members += 1;
          this.#hasEscapedKey ||= isEscapedText;
        } else if (byte === 0x5b || byte === 0x7b) {
          values += 1;
          depth += 1;
          if (depth > this.#deepest) throw bodyTooDeep(this.#deepest);
        } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
        else if (byte > BLANK) {
          length += 1;
          if (length === 1) {
            first = byte;
            isOdd = false;
          } else if (length > EXACT_LENGTH || (byte | 0x20) === 0x65) isOdd = true;
          else if (length === 2 && first === MINUS && byte === ZERO) isOdd = true;
          if (length > this.#longest) throw tooLong();
          continue;
        }
        if (isOdd && length > 0) this.#noteNumber(first, this.#seen + at - length, this.#seen + at);
        length = 0;
      }
    }
    if (values > LIMITS.body_values) throw tooMany('values', LIMITS.body_values);
    if (members > LIMITS.body_keys) throw tooMany('keys', LIMITS.body_keys);
    this.#depth = depth;
    this.#values = values;
    this.#members = members;
    this.#seen += bytes.length;
    this.#length = length;
    this.#first = first;
    this.#isOdd = isOdd;
    this.#isEscapedText = isEscapedText;
    this.#isQuoted = isQuoted;
    this.#isEscaped = isEscaped;
  }

  /** `true` and `false` have an `e` too. JSON has no more numbers than values; what has more is refused when it is read. */
  #noteNumber(first: number, from: number, to: number): void {
    const isNumber = first === MINUS || (first >= ZERO && first <= 0x39);
    if (isNumber && this.#oddNumbers.length <= LIMITS.body_values) this.#oddNumbers.push([from, to]);
  }
}

/**
 * The same bounds for a text inside of a body that is parsed in turn, of which the body's own count sees one value.
 * Throws too_large, and invalid_input where it is nested too deep; `what` names it.
 */
export function boundText(text: string, what: string): void {
  // It may be no JSON at all: how long its words are is for the code that parses it to say.
  const scan = new BodyScan(LIMITS.json_depth, Number.POSITIVE_INFINITY);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // What is no ASCII stands for itself: it neither begins nor ends anything.
    bytes[at] = unit < 0x80 ? unit : LETTER;
  }
  try {
    scan.take(bytes);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (error.code === 'invalid_input') throw tooDeep(what);
    throw new ForgeError(error.code, error.message.replace('The body', what), { details: error.details });
  }
}

function bodyTooDeep(limit: number): ForgeError {
  return new ForgeError('invalid_input', `The body is nested deeper than ${limit} levels`, {
    details: { limit },
  });
}

/** Comparing a number of two megabytes with the double that it is read as would take its time. */
function tooLong(): ForgeError {
  const limit = LIMITS.json_number_length;
  return new ForgeError('invalid_input', `A number in the body has more than ${limit} characters`, {
    hint: 'Send it as a text in quotes',
    details: { limit },
  });
}

function tooMany(what: string, limit: number): ForgeError {
  return new ForgeError('too_large', `The body has more than ${limit} ${what}`, {
    hint: 'Send it in several requests',
    details: { limit },
  });
}
