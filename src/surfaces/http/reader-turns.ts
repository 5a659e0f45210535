/**
 * Readers that wait for a page of the store, in the order in which they are served: around the tokens, then around the
 * readers of a token. A token with a thousand streams waits for its own, and not others for all of them.
 */
export class ReaderTurns<Reader extends { readonly caller: { readonly token: string } }> {
  readonly #tokens = new Map<string, Set<Reader>>();

  /** As the last of its token; a reader that waits already keeps its place. */
  add(reader: Reader): void {
    const { token } = reader.caller;
    const readers = this.#tokens.get(token) ?? new Set();
    this.#tokens.set(token, readers.add(reader));
  }

  delete(reader: Reader): void {
    const { token } = reader.caller;
    const readers = this.#tokens.get(token);
    readers?.delete(reader);
    if (readers?.size === 0) this.#tokens.delete(token);
  }

  /** Takes out the next one; its token comes last then. */
  take(): Reader | undefined {
    for (const [token, readers] of this.#tokens) {
      this.#tokens.delete(token);
      const [reader] = readers;
      if (reader === undefined) continue;
      readers.delete(reader);
      if (readers.size > 0) this.#tokens.set(token, readers);
      return reader;
    }
    return undefined;
  }
}
