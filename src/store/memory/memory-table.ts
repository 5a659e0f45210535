import { assert } from '#kernel/assert.ts';

/** What undoes the changes of the write that is being made. */
export class Journal {
  #steps: (() => void)[] | undefined;
  readonly #listeners = new Set<() => void>();
  #writes = 0;

  /** How many writes have changed something. */
  get writes(): number {
    return this.#writes;
  }

  /** Told after each write that was kept. Gives what ends it. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** All that `work` changes is kept, or nothing where it throws. No write begins inside another. */
  keep<T>(work: () => T): T {
    assert(this.#steps === undefined, 'one write at a time');
    const steps: (() => void)[] = [];
    this.#steps = steps;
    try {
      const result = work();
      if (steps.length > 0) this.#writes += 1;
      for (const told of this.#listeners) queueMicrotask(told);
      return result;
    } catch (error) {
      for (const undo of steps.reverse()) undo();
      throw error;
    } finally {
      this.#steps = undefined;
    }
  }

  note(undo: () => void): void {
    assert(this.#steps !== undefined, 'a table changes inside a write only');
    this.#steps.push(undo);
  }
}

/** Rows by their key, in no order. A row is replaced and never changed, so that the one that was there can come back. */
export class MemoryTable<Key, Row> {
  readonly #rows = new Map<Key, Row>();
  readonly #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(key: Key): Row | undefined {
    return this.#rows.get(key);
  }

  has(key: Key): boolean {
    return this.#rows.has(key);
  }

  keys(): Key[] {
    return [...this.#rows.keys()];
  }

  list(): Row[] {
    return [...this.#rows.values()];
  }

  set(key: Key, row: Row): void {
    this.#noteUndo(key);
    this.#rows.set(key, row);
  }

  delete(key: Key): void {
    if (!this.#rows.has(key)) return;
    this.#noteUndo(key);
    this.#rows.delete(key);
  }

  #noteUndo(key: Key): void {
    const before = this.#rows.get(key);
    this.#journal.note(
      before === undefined ? () => this.#rows.delete(key) : () => this.#rows.set(key, before),
    );
  }
}
