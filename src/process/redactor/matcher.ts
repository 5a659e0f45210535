/** Finds many words in one pass (Aho and Corasick). A state is what of the text read so far may begin a word. */
export interface Matcher {
  /** From the state before a UTF-16 unit to that after it; the first state is 0. */
  step(state: number, unit: number): number;
  /** How many of the last units may be the beginning of a word. */
  depth(state: number): number;
  /** How long the longest word is that ends here; 0 when none does. */
  matchLength(state: number): number;
}

export function createMatcher(words: readonly string[]): Matcher {
  const trie = new Trie();
  for (const word of words) trie.add(word);
  trie.link();
  return {
    step: (state, unit) => trie.step(state, unit),
    depth: (state) => trie.depths[state] ?? 0,
    matchLength: (state) => trie.lengths[state] ?? 0,
  };
}

class Trie {
  readonly depths: number[] = [0];
  readonly lengths: number[] = [0];
  readonly #next: Map<number, number>[] = [new Map()];
  /** The first steps of the commonest units: most of a text is read with these alone. */
  readonly #first = new Int32Array(256);
  /** The state for the longest other beginning of a word that this one ends with. */
  readonly #back: number[] = [0];

  add(word: string): void {
    let state = 0;
    for (let at = 0; at < word.length; at += 1) {
      const unit = word.charCodeAt(at);
      const known = this.#next[state]?.get(unit);
      if (known === undefined) {
        const made = this.#next.push(new Map()) - 1;
        this.depths.push(at + 1);
        this.lengths.push(0);
        this.#back.push(0);
        this.#next[state]?.set(unit, made);
        state = made;
      } else {
        state = known;
      }
    }
    if (state !== 0) this.lengths[state] = word.length;
  }

  /** By depth, because the way back from a state leads over those above it. */
  link(): void {
    for (const [unit, child] of this.#next[0] ?? []) {
      if (unit < this.#first.length) this.#first[unit] = child;
    }
    const order = [0];
    for (const state of order) {
      for (const [unit, child] of this.#next[state] ?? []) {
        order.push(child);
        const back = state === 0 ? 0 : this.step(this.#back[state] ?? 0, unit);
        this.#back[child] = back;
        this.lengths[child] = Math.max(this.lengths[child] ?? 0, this.lengths[back] ?? 0);
      }
    }
  }

  step(from: number, unit: number): number {
    for (let state = from; state !== 0; state = this.#back[state] ?? 0) {
      const next = this.#next[state]?.get(unit);
      if (next !== undefined) return next;
    }
    return unit < this.#first.length ? (this.#first[unit] ?? 0) : (this.#next[0]?.get(unit) ?? 0);
  }
}
