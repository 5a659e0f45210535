/** So many values by their names; the one that was not used for longest makes place for the next. */
export class RecentValues<V> {
  readonly #most: number;
  /** The one that was used last is last. */
  readonly #values = new Map<string, V>();

  constructor(most: number) {
    this.#most = most;
  }

  get(name: string): V | undefined {
    const value = this.#values.get(name);
    if (value !== undefined) this.set(name, value);
    return value;
  }

  set(name: string, value: V): void {
    this.#values.delete(name);
    this.#values.set(name, value);
    const [oldest] = this.#values.keys();
    if (this.#values.size > this.#most && oldest !== undefined) this.#values.delete(oldest);
  }
}
