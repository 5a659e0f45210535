/**
 * Lets large pieces of work go on one at a time, each in a turn of the event loop of its own, so that what else waits
 * gets its turn in between. `nextTurn` resolves in the next one.
 */
export class OneATurn {
  #last: Promise<void> = Promise.resolve();
  readonly #nextTurn: () => Promise<void>;

  constructor(nextTurn: () => Promise<void>) {
    this.#nextTurn = nextTurn;
  }

  /** Resolves when those that came before had a turn each. */
  wait(): Promise<void> {
    this.#last = this.#last.then(this.#nextTurn);
    return this.#last;
  }
}
