import type { Database } from './database.ts';
import { INSERT_EDGE } from './edge-rows.ts';

/**
 * Edges that wait until all tasks of a file are there. Written before, each task that comes would be held against the
 * edges that point to nothing yet, in every table that refers to tasks.
 */
export class EdgeQueue {
  readonly #db: Database;
  /** From, to and type of each edge in turn: an array for each would be most of what a large import holds. */
  readonly #words: string[] = [];

  constructor(db: Database) {
    this.#db = db;
  }

  add(from: string, to: string, type: string): void {
    this.#words.push(from, to, type);
  }

  write(): void {
    const words = this.#words;
    for (let at = 0; at < words.length; at += 3)
      this.#db.run(INSERT_EDGE, words[at] as string, words[at + 1] as string, words[at + 2] as string);
    words.length = 0;
  }
}
