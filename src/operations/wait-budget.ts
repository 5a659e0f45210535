import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';

/** Counts calls that wait for something to happen: each looks at the store again and again, for an hour if it likes. */
export class WaitBudget {
  readonly #limits: { readonly a_token: number; readonly all: number };
  readonly #counts = new Map<string, number>();
  #all = 0;

  constructor(
    limits: { readonly a_token: number; readonly all: number } = {
      a_token: LIMITS.waits_a_token,
      all: LIMITS.waits,
    },
  ) {
    this.#limits = limits;
  }

  /** Throws too_many_requests. What is given back ends the wait. */
  begin(token: string): Disposable {
    const own = this.#counts.get(token) ?? 0;
    const { a_token, all } = this.#limits;
    if (own >= a_token) throw tooMany(`This token waits for ${a_token} things already`, a_token);
    if (this.#all >= all) throw tooMany(`This server has ${all} waits under way already`, all);
    this.#counts.set(token, own + 1);
    this.#all += 1;
    let isOpen = true;
    return {
      [Symbol.dispose]: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#all -= 1;
        const left = (this.#counts.get(token) ?? 1) - 1;
        if (left > 0) this.#counts.set(token, left);
        else this.#counts.delete(token);
      },
    };
  }
}

function tooMany(message: string, limit: number): ForgeError {
  return new ForgeError('too_many_requests', message, {
    hint: 'Let one of them end, or follow all tasks by one stream: GET /api/v1/events',
    details: { limit, retry_after_s: 1 },
  });
}
