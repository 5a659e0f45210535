import {
  type CheckoutFingerprint,
  fingerprintCheckout,
  listChangedFiles,
} from '#git/checkout-fingerprint.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { CHECKOUT_CHANGED } from '#domain/checkout-change.ts';
import type { GitRepo } from '#git/ask-git.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { quoteName } from '#kernel/name-files.ts';
import { escapeLine } from '#kernel/text.ts';
import type { AttemptStore } from '#store/attempt-store.ts';

/** A look at the user's own checkout; undefined where git could not say. */
type Look = CheckoutFingerprint | undefined;

interface Place {
  readonly repo: GitRepo;
  readonly store: Pick<AttemptStore, 'listAttempts'>;
}

/**
 * Nobody but a merge changes the user's checkout. Looks at it around each run, and tells what changed: the agent, or the
 * user meanwhile, which cannot be told apart.
 */
export class CheckoutWatch {
  readonly #place: Place;
  readonly #look_ms: number;
  #last: { readonly began: number; readonly look: Promise<Look> } | undefined;

  constructor({ repo, store }: Place, look_ms: number = LIMITS.checkout_look_ms) {
    this.#place = { repo, store };
    this.#look_ms = look_ms;
  }

  /** Asked as soon as somebody knows that there will be a run: in a large checkout git takes its time to answer. */
  lookAhead(): void {
    // Whoever waits for the answer gets it, or the error.
    this.lookBefore().catch(() => undefined);
  }

  /** How it is before a run. Those that begin together share one look. */
  lookBefore(age_ms: number = LIMITS.checkout_age_ms): Promise<Look> {
    const last = this.#last;
    return last !== undefined && performance.now() - last.began <= age_ms ? last.look : this.#lookNow();
  }

  /** What is different now, in a sentence. A merge that is landing is known to be one a moment after it has moved HEAD. */
  async compare(before: Look): Promise<string | undefined> {
    for (let tries = 1; ; tries += 1) {
      const found = await this.#compareOnce(before);
      if (found === undefined || tries >= LIMITS.checkout_looks) return found;
      await sleep(tries * LOOK_PAUSE_MS);
    }
  }

  async #compareOnce(before: Look): Promise<string | undefined> {
    const after = await this.#lookNow();
    if (before === undefined || after === undefined)
      return 'Nobody knows whether your checkout has changed while it ran: git could not say';
    const { store } = this.#place;
    const changed = listChangedFiles(before, after).filter((path) => !OF_FORGE.has(path));
    const isMoved = before.commit !== after.commit && before.head === after.head;
    const isMerged =
      isMoved && (await store.listAttempts({})).some(({ merge_commit }) => merge_commit === after.commit);
    const parts = [
      ...(changed.length === 0 ? [] : [listNames(changed)]),
      ...(before.head === after.head ? [] : [`HEAD is ${after.head}, was ${before.head}`]),
      ...(isMoved && !isMerged ? [`HEAD is at ${after.commit.slice(0, 12)}`] : []),
    ];
    return parts.length === 0
      ? undefined
      : `${CHECKOUT_CHANGED}, by it or by you: ${escapeLine(parts.join('; '))}`;
  }

  #lookNow(): Promise<Look> {
    this.#last = { began: performance.now(), look: this.#look() };
    return this.#last.look;
  }

  async #look(): Promise<Look> {
    try {
      return await fingerprintCheckout(this.#place.repo, { timeout_ms: this.#look_ms });
    } catch (error) {
      if (!isForgeError(error)) throw error;
      return undefined;
    }
  }
}

const LOOK_PAUSE_MS = 150;

/** These are written by every commit and export. */
const OF_FORGE: ReadonlySet<string> = new Set(['.forge/tasks.jsonl', '.forge/history.jsonl']);

function listNames(paths: readonly string[]): string {
  const named = paths.filter((path) => path !== '').slice(0, LIMITS.attempt_files_named);
  const more = paths.length - named.length;
  return [...named.map(quoteName), ...(more === 0 ? [] : [`${more} more`])].join(', ');
}
