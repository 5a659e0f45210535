/**
 * Requests that bear a key of their client's choice, so that sending one again does not do it again. Kept for a day,
 * in this database only: a key means nothing elsewhere.
 */
export interface IdempotencyStore {
  /**
   * Says what is known of the key; when nothing is, remembers it as begun. Of several at once exactly one gets `new`.
   * Keys older than a day are forgotten by the way.
   */
  beginRequest(request: RequestKey): Promise<RequestOutcome>;
  /** Keeps the answer of a request that was begun. */
  finishRequest(request: RequestKey, answer: KeptAnswer): Promise<void>;
  /** Forgets a request that came to nothing. Idempotent; never forgets one that has an answer. */
  dropRequest(request: RequestKey): Promise<void>;
}

export interface RequestKey {
  /** The token's id: keys of others are other keys. */
  readonly token: string;
  readonly key: string;
  /** Of all that the request says. */
  readonly digest: string;
  readonly now: number;
}

export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type RequestOutcome =
  | { readonly outcome: 'new' }
  | { readonly outcome: 'done'; readonly answer: KeptAnswer }
  /** Still at work, or cut off by a crash: nobody knows whether it happened. */
  | { readonly outcome: 'pending'; readonly began_at: number }
  /** The key stands for another request. */
  | { readonly outcome: 'conflict' };
