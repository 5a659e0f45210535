import { toEtag, type Answer } from './answer.ts';
import { HTTP_LIMITS } from './limits.ts';

interface Kept {
  readonly stamp: string;
  readonly answer: Answer;
}

/**
 * Lists as they were sent last, as long as nothing was written since: a board that many look at asks for the same page
 * again and again, and most of its cost is to make the same text once more.
 */
export class ListCache {
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** Undefined where the list was never made, or may be another by now. */
  find(key: string, stamp: string): Answer | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.#drop(key, kept);
    if (kept.stamp !== stamp) return undefined;
    // The one used last stands last, and those in front go first.
    this.#add(key, kept);
    return kept.answer;
  }

  keep(key: string, stamp: string, answer: Answer): Answer {
    const body = Buffer.from(answer.body);
    if (body.length > HTTP_LIMITS.list_cache_bytes / 4) return answer;
    const known = this.#kept.get(key);
    if (known !== undefined) this.#drop(key, known);
    const kept = { ...answer, body, etag: toEtag(body) };
    this.#add(key, { stamp, answer: kept });
    for (const [oldest, one] of this.#kept) {
      if (this.#bytes <= HTTP_LIMITS.list_cache_bytes) break;
      this.#drop(oldest, one);
    }
    return kept;
  }

  #add(key: string, kept: Kept): void {
    this.#kept.set(key, kept);
    this.#bytes += kept.answer.body.length;
  }

  #drop(key: string, kept: Kept): void {
    this.#kept.delete(key);
    this.#bytes -= kept.answer.body.length;
  }
}
