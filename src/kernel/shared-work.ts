/**
 * One piece of work for all that ask for it at the same time. Who asks while it is under way gets the next one, which
 * begins later than the question: an answer is never older than what was asked.
 */
export class SharedWork<T> {
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  ask(work: () => Promise<T>): Promise<T> {
    if (this.#running === undefined) return this.#start(work);
    this.#next ??= this.#running.then(
      () => this.#start(work),
      () => this.#start(work),
    );
    return this.#next;
  }

  #start(work: () => Promise<T>): Promise<T> {
    this.#next = undefined;
    const running = work().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
