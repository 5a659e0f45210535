import { describeOperation, type Answer, type Operation } from './linear-history.ts';

/** What one operation, alone, does to a state. */
export interface Model<S> {
  readonly initial: S;
  /** Equal only for states between which no operation can tell a difference. */
  key(state: S): string;
  /** Everything that may happen; more than one only where the model does not know all that decides it. */
  step(state: S, operation: Operation): readonly Effect<S>[];
}

export interface Effect<S> {
  readonly state: S;
  readonly answer: Answer;
}

export interface Verdict {
  /** Undefined: there is an order that explains everything. */
  readonly violation: string | undefined;
  /** How many configurations were looked at. */
  readonly looked: number;
}

/**
 * Looks for one order of the operations that keeps to real time (what was told before another began comes before it)
 * and in which the model gives every answer that was given. This is the search of Wing and Gong, with Lowe's memory of
 * the configurations (which operations are placed, and what state they lead to) that have been tried.
 *
 * An operation without an answer may be placed anywhere between its beginning and the time at which it is settled, or
 * left out.
 * Throws where `limit` configurations do not decide it: that is no pass.
 */
export function checkHistory<S>(
  operations: readonly Operation[],
  model: Model<S>,
  limit = 2_000_000,
): Verdict {
  const search = new Search(operations, model);
  const path = [search.listNext(model.initial)];
  for (let looked = 1; ;) {
    const next = path.at(-1)?.next();
    if (search.left === 0) return { violation: undefined, looked };
    if (next === undefined) return { violation: search.describe(), looked };
    if (next.done === true) {
      path.pop();
      search.takeBack();
      continue;
    }
    looked += 1;
    if (looked > limit) throw new UndecidedError(`${limit} configurations did not decide it`);
    path.push(search.listNext(next.value));
  }
}

/** Neither a pass nor a fault: what happened allows too many orders. */
export class UndecidedError extends Error {}

/** What the first of these seeds leads to that can be decided: on a busy machine more happens at once. */
export async function firstDecided<T>(
  seeds: readonly number[],
  attempt: (seed: number) => Promise<T>,
): Promise<T> {
  for (const seed of seeds) {
    try {
      return await attempt(seed);
    } catch (error) {
      if (!(error instanceof UndecidedError)) throw error;
    }
  }
  throw new UndecidedError('None of these runs could be decided');
}

class Search<S> {
  /** Operations with an answer that have no place yet. */
  left: number;
  readonly #model: Model<S>;
  readonly #operations: readonly Operation[];
  /** Numbers of operations, in the order in which they are tried. */
  readonly #answered: readonly number[];
  readonly #unanswered: readonly number[];
  /** Where an operation stands in the first list. */
  readonly #positions: Int32Array;
  readonly #isPlaced: Uint8Array;
  readonly #order: number[] = [];
  readonly #tried = new Set<string>();
  /** All operations with an answer before this one have their place. */
  #low = 0;
  /** When the last of those that are placed began, after each that was placed. */
  readonly #begun: number[] = [0];
  #deepest: { depth: number; last: readonly number[]; state: S; next: readonly number[] };

  constructor(operations: readonly Operation[], model: Model<S>) {
    this.#model = model;
    this.#operations = operations;
    const all = operations.map((_, at) => at);
    // Most often things happened in the order in which they were told.
    this.#answered = all
      .filter((at) => this.#get(at).answer !== undefined)
      .sort((a, b) => this.#end(a) - this.#end(b));
    this.#unanswered = all.filter((at) => this.#get(at).answer === undefined);
    this.#positions = new Int32Array(operations.length);
    for (const [position, at] of this.#answered.entries()) this.#positions[at] = position;
    this.#isPlaced = new Uint8Array(operations.length);
    this.left = this.#answered.length;
    this.#deepest = { depth: 0, last: [], state: model.initial, next: [] };
  }

  /** Places one operation after the other behind what is placed, and gives the state that it leads to. */
  *listNext(state: S): Generator<S> {
    const candidates = this.#listCandidates();
    const depth = this.#order.length;
    if (depth >= this.#deepest.depth)
      this.#deepest = { depth, last: this.#order.slice(-8), state, next: candidates };
    const before = this.#model.key(state);
    for (const at of candidates) {
      const operation = this.#get(at);
      const { answer } = operation;
      for (const effect of this.#model.step(state, operation)) {
        if (answer === undefined ? this.#model.key(effect.state) === before : !agrees(answer, effect.answer))
          continue;
        this.#place(at);
        const key = `${this.#placedKey()}|${this.#model.key(effect.state)}`;
        if (this.#tried.has(key)) {
          this.takeBack();
          continue;
        }
        this.#tried.add(key);
        yield effect.state;
      }
    }
  }

  takeBack(): void {
    const at = this.#order.pop();
    if (at === undefined) return;
    this.#begun.pop();
    this.#isPlaced[at] = 0;
    if (this.#get(at).answer === undefined) return;
    this.left += 1;
    this.#low = Math.min(this.#low, this.#positions[at] ?? 0);
  }

  describe(): string {
    const { depth, last, state, next } = this.#deepest;
    const line = (at: number): string => `  ${describeOperation(this.#get(at))}`;
    return [
      `No order explains this history of ${this.#operations.length} operations; the best places ${depth}, the last:`,
      ...last.map(line),
      `then the state is ${this.#model.key(state)}, and none of these can follow:`,
      ...next.map((at) => {
        const expected = this.#model.step(state, this.#get(at)).map(({ answer }) => answer);
        return `${line(at)}; expected ${JSON.stringify(expected)}`;
      }),
    ].join('\n');
  }

  /** What began before the first of those that are left was told. */
  #listCandidates(): number[] {
    const first = this.#answered[this.#low];
    const until = first === undefined ? Infinity : this.#end(first);
    const found: number[] = [];
    for (let i = this.#low; i < this.#answered.length; i += 1) {
      const at = this.#answered[i] ?? 0;
      if (this.#isPlaced[at] === 0 && this.#get(at).invoked_at <= until) found.push(at);
    }
    for (const at of this.#unanswered)
      if (this.#mayStillHappen(at) && this.#get(at).invoked_at <= until) found.push(at);
    return found;
  }

  #mayStillHappen(at: number): boolean {
    const { settled_at = Infinity } = this.#get(at);
    return this.#isPlaced[at] === 0 && settled_at >= (this.#begun.at(-1) ?? 0);
  }

  #place(at: number): void {
    this.#order.push(at);
    this.#begun.push(Math.max(this.#begun.at(-1) ?? 0, this.#get(at).invoked_at));
    this.#isPlaced[at] = 1;
    if (this.#get(at).answer === undefined) return;
    this.left -= 1;
    while (this.#low < this.#answered.length && this.#isPlaced[this.#answered[this.#low] ?? 0] === 1)
      this.#low += 1;
  }

  /** What is placed, as far as it decides what may follow; nearly all of it lies before `#low`. */
  #placedKey(): string {
    const more: number[] = [];
    const open = this.#operations.length - this.#unanswered.length - this.left - this.#low;
    for (let i = this.#low; more.length < open; i += 1) {
      const at = this.#answered[i] ?? 0;
      if (this.#isPlaced[at] === 1) more.push(at);
    }
    // Whether one has happened that cannot happen any more is told by the state, as far as it matters.
    const possible = this.#unanswered.filter((at) => this.#mayStillHappen(at));
    return `${this.#low};${more.join()};${possible.join()}`;
  }

  #get(at: number): Operation {
    return this.#operations[at] as Operation; // a number of an operation
  }

  #end(at: number): number {
    return this.#get(at).completed_at ?? Infinity;
  }
}

/** Everything that both tell is the same. */
function agrees(told: Answer, expected: Answer): boolean {
  if (told.code !== expected.code) return false;
  const facts = Object.entries(told.facts);
  const known: Readonly<Record<string, unknown>> = { ...expected.facts };
  return facts.every(([name, value]) => !(name in known) || known[name] === value);
}
