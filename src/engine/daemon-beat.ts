import { WATCH_LIMITS } from '#kernel/watch-limits.ts';
import { isDaemonMark } from '#store/daemon-store.ts';
import type { WorkPlace } from './work.ts';

/**
 * Says to the store that this process is there, as long as it is at work on something: processes on other machines
 * know it by nothing else. A process that only reads or writes tasks says nothing.
 */
export class DaemonBeat {
  readonly #place: Pick<WorkPlace, 'store' | 'clock' | 'watcher'>;
  readonly #isBusy: () => boolean;
  readonly #beat_ms: number;
  #begun: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** One word after the other. */
  #said: Promise<void> = Promise.resolve();

  constructor(
    place: Pick<WorkPlace, 'store' | 'clock' | 'watcher'>,
    isBusy: () => boolean,
    beat_ms: number = WATCH_LIMITS.daemon_beat_ms,
  ) {
    this.#place = place;
    this.#isBusy = isBusy;
    this.#beat_ms = beat_ms;
  }

  /** Before anything is taken: then the row is there. Rejects where it cannot be written. */
  begin(): Promise<void> {
    const begun = (this.#begun ??= this.#say(true).then(() => {
      this.#timer ??= setInterval(() => this.#goOn(), this.#beat_ms).unref();
    }));
    begun.catch(() => {
      if (this.#begun === begun) this.#begun = undefined;
    });
    return begun;
  }

  /** Nothing is at work here any more. Idempotent. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#begun === undefined) return;
    this.#begun = undefined;
    // What cannot be written ends by itself.
    await this.#say(false).catch(() => undefined);
  }

  #goOn(): void {
    // One that cannot be said now is said the next time.
    if (this.#isBusy()) this.#say(true).catch(() => undefined);
    else this.end().catch(() => undefined);
  }

  #say(isThere: boolean): Promise<void> {
    const { store, clock, watcher: mark } = this.#place;
    if (!isDaemonMark(mark)) return Promise.resolve();
    const said = this.#said.then(() =>
      isThere
        ? store.beatDaemon({ mark, ttl_ms: WATCH_LIMITS.daemon_ttl_ms }, clock.now())
        : store.endDaemon(mark, clock.now()),
    );
    this.#said = said.catch(() => undefined);
    return said;
  }
}
