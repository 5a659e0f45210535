import { listPlainViews } from '#domain/plain-view.ts';
import { MASK, maskSpans } from '#domain/secret-mask.ts';
import { LIMITS } from '#kernel/limits.ts';
import { createMatcher, type Matcher } from './redactor/matcher.ts';
import { listSecretForms } from './redactor/secret-forms.ts';

/** Takes secrets out of a text that comes in chunks, also where one is split between them. */
export interface Redactor {
  /** What is safe to show by now. What could be the beginning of a secret waits for the next chunk. */
  push(chunk: string): string;
  /** The rest, at the end of the text. The redactor can be used again. */
  flush(): string;
  /** For a whole text, also where codes of a terminal or escapes are between; the chunks of `push` are not touched. */
  redact(text: string): string;
  /** Whether one of them is in a text, as it is or in these ways. */
  readonly holds: (text: string) => boolean;
}

/**
 * Looks for each secret as it is, and in base64, hex, percent and JSON escapes. Secrets of fewer than
 * `LIMITS.secret_min_length` characters are left alone: they are words that occur anywhere, and blotting them out
 * would damage the text and tell where the secret stands.
 */
export function createRedactor(
  secrets: readonly string[],
  limits: { readonly min_length?: number; readonly piece_length?: number } = {},
): Redactor {
  const { min_length = LIMITS.secret_min_length, piece_length = LIMITS.secret_piece_length } = limits;
  const forms = new Set(secrets.flatMap((secret) => listSecretForms(secret, { min_length, piece_length })));
  const matcher = createMatcher([...forms]);
  let stream = new Redaction(matcher);
  return {
    push: (chunk) => stream.push(chunk),
    flush() {
      const rest = stream.flush();
      stream = new Redaction(matcher);
      return rest;
    },
    redact(text) {
      if (forms.size === 0) return text;
      const whole = new Redaction(matcher);
      const shown = whole.push(text) + whole.flush();
      const spans = listPlainViews(shown).flatMap((view) =>
        locateWords(matcher, view.text).map(view.toPlace),
      );
      return maskSpans(shown, spans);
    },
    holds(text) {
      if (forms.size === 0) return false;
      return [text, ...listPlainViews(text).map((view) => view.text)].some(
        (one) => locateWords(matcher, one).length > 0,
      );
    },
  };
}

function locateWords(matcher: Matcher, text: string): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = [];
  let state = 0;
  for (let at = 0; at < text.length; at += 1) {
    state = matcher.step(state, text.charCodeAt(at));
    const length = matcher.matchLength(state);
    if (length > 0) found.push({ from: at + 1 - length, to: at + 1 });
  }
  return found;
}

class Redaction {
  readonly #matcher: Matcher;
  #state = 0;
  /** Text that may not be shown yet, and the parts of it that are secret, in order and apart from each other. */
  #held = '';
  #secret: { from: number; to: number; masked: boolean }[] = [];

  constructor(matcher: Matcher) {
    this.#matcher = matcher;
  }

  push(chunk: string): string {
    const before = this.#held.length;
    this.#held += chunk;
    for (let at = 0; at < chunk.length; at += 1) {
      this.#state = this.#matcher.step(this.#state, chunk.charCodeAt(at));
      // Nearly always nothing has begun.
      if (this.#state === 0) continue;
      const length = this.#matcher.matchLength(this.#state);
      if (length > 0) this.#cover(before + at + 1 - length, before + at + 1);
    }
    return this.#release(this.#held.length - this.#matcher.depth(this.#state));
  }

  flush(): string {
    return this.#release(this.#held.length);
  }

  #cover(from: number, to: number): void {
    let merged = { from, to, masked: false };
    for (
      let last = this.#secret.at(-1);
      last !== undefined && last.to > merged.from;
      last = this.#secret.at(-1)
    ) {
      this.#secret.pop();
      merged = { from: Math.min(last.from, merged.from), to, masked: last.masked || merged.masked };
    }
    this.#secret.push(merged);
  }

  /** Gives out the first `end` characters of what is held. A secret that goes on behind them is masked only once. */
  #release(end: number): string {
    let shown = '';
    let at = 0;
    for (const part of this.#secret) {
      if (part.from >= end) break;
      shown += this.#held.slice(at, Math.max(at, part.from)) + (part.masked ? '' : MASK);
      part.masked = true;
      at = Math.min(part.to, end);
    }
    shown += this.#held.slice(at, Math.max(at, end));
    this.#held = this.#held.slice(end);
    this.#secret = this.#secret
      .filter(({ to }) => to > end)
      .map(({ from, to, masked }) => ({ from: Math.max(0, from - end), to: to - end, masked }));
    return shown;
  }
}
