export interface TurnLimits {
  /** Requests of one owner that are at work at once. */
  readonly at_work: number;
  /** A request that is not answered after this time waits for something else, and counts no longer. */
  readonly busy_ms: number;
  /** As long may requests begin in one turn of the event loop without waiting. */
  readonly turn_ms: number;
}

/**
 * Requests begin in turn, by their owner: a token, or an address where there is none. Node gives all requests that have
 * come on any number of connections at once, and an owner with thousands of them would have all others wait for the last.
 * While little is to do, a request waits for nothing. Then each begins in a turn of the event loop of its own, one of each
 * owner after the other, and so few of one owner at once that what they wait for together cannot wake them all.
 */
export class TokenTurns {
  readonly #limits: TurnLimits;
  readonly #owners = new Map<string, Owner>();
  /** Owners with a request that may begin now, in the order in which they are served. */
  readonly #ready = new Set<Owner>();
  /** When the first request of this turn of the event loop began. */
  #turnBegan: number | undefined;
  #isPlanned = false;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Given, or resolved, when a request of this owner may begin; it is at work until the result is disposed of. */
  begin(who: string): Disposable | Promise<Disposable> {
    const owner = this.#owners.get(who) ?? { who, atWork: 0, waiting: [] };
    this.#owners.set(who, owner);
    if (owner.waiting.length > 0 || !this.#mayBegin(owner) || this.#isTurnFull())
      return this.#wait(owner).then(() => this.#openWork(owner));
    owner.atWork += 1;
    return this.#openWork(owner);
  }

  #mayBegin({ atWork }: Owner): boolean {
    return atWork < this.#limits.at_work;
  }

  #isTurnFull(): boolean {
    const now = performance.now();
    if (this.#turnBegan === undefined) {
      this.#turnBegan = now;
      setImmediate(() => (this.#turnBegan = undefined));
    }
    return now - this.#turnBegan > this.#limits.turn_ms;
  }

  #wait(owner: Owner): Promise<void> {
    return new Promise((resolve) => {
      owner.waiting.push(resolve);
      this.#plan(owner);
    });
  }

  #plan(owner: Owner): void {
    if (owner.waiting.length > 0 && this.#mayBegin(owner)) this.#ready.add(owner);
    if (this.#isPlanned || this.#ready.size === 0) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      this.#beginNext();
    });
  }

  /** One only: what it does goes on behind this function, in the same turn. */
  #beginNext(): void {
    const [owner] = this.#ready;
    if (owner === undefined) return;
    this.#ready.delete(owner);
    const next = owner.waiting.shift();
    if (next !== undefined) owner.atWork += 1;
    this.#plan(owner);
    next?.();
  }

  #openWork(owner: Owner): Disposable {
    let isAtWork = true;
    const end = (): void => {
      if (!isAtWork) return;
      isAtWork = false;
      clearTimeout(timer);
      owner.atWork -= 1;
      if (owner.atWork === 0 && owner.waiting.length === 0) this.#owners.delete(owner.who);
      else this.#plan(owner);
    };
    const timer = setTimeout(end, this.#limits.busy_ms).unref();
    return { [Symbol.dispose]: end };
  }
}

interface Owner {
  readonly who: string;
  atWork: number;
  readonly waiting: (() => void)[];
}
