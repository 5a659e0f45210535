import type { Attempt } from '#contract/attempt.ts';
import type { StartedRun } from '#executors/executor.ts';
import type { WorkPlace } from './work.ts';

/**
 * What people say to an agent at work. A message counts as delivered when the program has taken it; one that it never
 * took, because its turn or its session was over, stays and is part of the next prompt.
 */
export class SentMessages {
  readonly #place: WorkPlace;
  readonly #attempt: Attempt;
  readonly #started: StartedRun;
  /** Sent, and not known to be taken: by its number. */
  readonly #open = new Map<number, string>();

  constructor(place: WorkPlace, attempt: Attempt, started: StartedRun) {
    this.#place = place;
    this.#attempt = attempt;
    this.#started = started;
  }

  async deliver(): Promise<void> {
    const { store } = this.#place;
    for (const { seq, body } of await store.listMessages({ attempt_id: this.#attempt.id })) {
      if (this.#open.has(seq)) continue;
      // The next ones may not overtake it.
      if (!(await this.#started.send(body))) break;
      this.#open.set(seq, body);
    }
    await this.#note(this.#started.unheard());
  }

  /** When the program has ended. */
  async settle(): Promise<void> {
    if (this.#open.size > 0) await this.#note((await this.#started.ended).unheard ?? []);
  }

  async #note(unheard: readonly string[]): Promise<void> {
    const { store, clock } = this.#place;
    for (const [seq, body] of this.#open) {
      if (unheard.includes(body)) continue;
      await store.noteDelivered({ seq, now: clock.now() });
      this.#open.delete(seq);
    }
  }
}
