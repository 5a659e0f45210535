/** What a store remembers of a request that bears a key of its client's choice. */
export interface RememberedRequest<Answer> {
  readonly digest: string;
  readonly began_at: number;
  /** Undefined while it is at work, or where a crash cut it off. */
  readonly answer: Answer | undefined;
}

export type RequestDecision<Answer> =
  | { readonly outcome: 'new' }
  | { readonly outcome: 'done'; readonly answer: Answer }
  | { readonly outcome: 'pending'; readonly began_at: number }
  | { readonly outcome: 'conflict' };

/** Whether a request is made, or answered with what is known of the one that bore its key before. */
export function decideRequest<Answer>(
  known: RememberedRequest<Answer> | undefined,
  digest: string,
): RequestDecision<Answer> {
  if (known === undefined) return { outcome: 'new' };
  if (known.digest !== digest) return { outcome: 'conflict' };
  if (known.answer === undefined) return { outcome: 'pending', began_at: known.began_at };
  return { outcome: 'done', answer: known.answer };
}
