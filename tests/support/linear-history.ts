/** What clients did to the tasks of one store, and what they were told: the input of the linearizability check. */

export type Status = 'open' | 'in_progress' | 'closed';

/**
 * `now` is what the client's clock said, right or wrong. Leases are judged by the steady clock that all have in common;
 * where a history has none, `now` stands for it.
 */
export type Request = { readonly now: number; readonly steady?: number } & (
  | {
      readonly op: 'claim';
      readonly task: string;
      readonly actor: string;
      readonly force: boolean;
      readonly lease_ms?: number;
    }
  /** The first that is ready, whichever that is. */
  | { readonly op: 'next'; readonly actor: string; readonly lease_ms?: number }
  | { readonly op: 'renew'; readonly task: string; readonly fence: number }
  | {
      readonly op: 'release';
      readonly task: string;
      readonly actor: string;
      readonly force: boolean;
      readonly fence?: number;
    }
  | {
      readonly op: 'transition';
      readonly task: string;
      readonly actor: string;
      /** Who may also end the claim of another. */
      readonly by_person?: true;
      readonly to: string;
      readonly version?: number;
      readonly fence?: number;
    }
  | {
      readonly op: 'close';
      readonly task: string;
      readonly actor: string;
      readonly by_person?: true;
      readonly version?: number;
      readonly fence?: number;
    }
  | { readonly op: 'reopen'; readonly task: string; readonly version?: number }
  | { readonly op: 'read'; readonly task: string }
  /** A server starts: nobody is judged for one lease time. */
  | { readonly op: 'grace' }
);

export function leaseTime({ now, steady }: Pick<Request, 'now' | 'steady'>): number {
  return steady ?? now;
}

/** What an answer may tell; each one that it does tell has to be true. */
export interface Facts {
  readonly task?: string;
  readonly status?: Status;
  readonly state?: string;
  readonly owner?: string | null;
  readonly version?: number;
  readonly fence?: number;
  readonly expires_at?: number;
}

/** `ok`, the outcome of a claim that was refused, or the code of an error. */
export interface Answer {
  readonly code: string;
  readonly facts: Facts;
}

/** Times are of one monotonic clock that all clients share. */
export interface Operation {
  readonly client: string;
  readonly request: Request;
  readonly invoked_at: number;
  /** Undefined where the client died before it was told: the operation may have happened, or not. */
  readonly completed_at?: number | undefined;
  readonly answer?: Answer | undefined;
  /** Without an answer: what begins later than this sees whether it has happened. */
  readonly settled_at?: number | undefined;
}

/** How a task was made; nothing of this changes in a history. */
export interface TaskSetup {
  readonly id: string;
  /** Smaller comes first in the queue. */
  readonly rank: number;
  /** Whom the role coder was given to. */
  readonly coder?: string;
  /** It depends on a task that stays open. */
  readonly waits: boolean;
}

export function describeOperation({ client, request, answer }: Operation): string {
  const { op, ...asked } = request;
  const told = answer === undefined ? 'was never told' : `${answer.code} ${JSON.stringify(answer.facts)}`;
  return `${client}: ${op} ${JSON.stringify(asked)} -> ${told}`;
}
