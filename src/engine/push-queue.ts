import { pushLanded } from './push-landed.ts';
import type { WorkPlace } from './work.ts';

/** The pushes of one process: one after the other, each with what was noted by then. */
export class PushQueue {
  readonly #place: WorkPlace;
  #pushing: Promise<void> | undefined;

  constructor(place: WorkPlace) {
    this.#place = place;
  }

  get busy(): boolean {
    return this.#pushing !== undefined;
  }

  /** Pushes what has landed and waits for it. */
  push(): Promise<void> {
    const pushing: Promise<void> = (this.#pushing ?? Promise.resolve())
      .then(() => pushLanded(this.#place))
      .finally(() => {
        if (this.#pushing === pushing) this.#pushing = undefined;
      });
    this.#pushing = pushing;
    return pushing;
  }

  /** Until every push that was begun has ended. */
  async settled(): Promise<void> {
    while (this.#pushing !== undefined) await this.#pushing;
  }
}
