import type { ServerResponse } from 'node:http';
import { ForgeError } from '#kernel/errors.ts';
import { HTTP_LIMITS } from './limits.ts';

export type AnswerLimits = Readonly<
  Record<'unread_bytes_a_token' | 'unread_bytes' | 'waiting_reads_a_token', number>
>;

/**
 * Bounds the memory of answers: those that are being made, and those that their clients have not taken yet. An answer
 * that is read reserves the most that it may take before it is made. Where others of the same token are being made it
 * waits for them; where the client leaves too much unread it is refused.
 */
export class AnswerBudget {
  readonly #limits: AnswerLimits;
  readonly #accounts = new Map<string, Account>();
  /** Accounts with reads that wait, in the order in which they are served. */
  readonly #waiting = new Set<Account>();
  readonly #owners = new WeakMap<ServerResponse, string>();
  readonly #held = new WeakSet<ServerResponse>();
  #unread = 0;
  #reserved = 0;

  constructor(limits: AnswerLimits = HTTP_LIMITS) {
    this.#limits = limits;
  }

  /** What is kept for clients, and what is set aside for answers that are being made. */
  get bytes(): { readonly unread: number; readonly reserved: number } {
    return { unread: this.#unread, reserved: this.#reserved };
  }

  /** Says whose answer it is; `who` is the id of a token. Throws too_many_requests where they leave too much unread. */
  open(response: ServerResponse, who: string): void {
    this.#owners.set(response, who);
    this.#check(this.#accounts.get(who), 1);
  }

  /** Whether so many bytes more may wait for this client. */
  hasRoom(who: string, bytes: number): boolean {
    return this.#findFault(this.#accounts.get(who), bytes) === undefined;
  }

  /** Resolves when an answer of so many bytes at most may be made. Throws too_many_requests, server_busy, interrupted. */
  async reserve(who: string, bytes: number, signal?: AbortSignal): Promise<Disposable> {
    this.#check(this.#accounts.get(who), bytes);
    const account = this.#account(who);
    if (account.waiting.length > 0 || !this.#fits(account, bytes)) await this.#wait(account, bytes, signal);
    else this.#addReserved(account, bytes);
    let isOpen = true;
    return {
      [Symbol.dispose]: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#addReserved(account, -bytes);
        this.#serve();
      },
    };
  }

  /** Counts what of an ended answer its client has not taken yet, until it is taken or the connection ends. */
  hold(response: ServerResponse): void {
    const waiting = response.writableEnded && !response.destroyed ? response.writableLength : 0;
    if (waiting === 0 || this.#held.has(response)) return;
    this.#held.add(response);
    const who = this.#owners.get(response) ?? `address ${response.socket?.remoteAddress ?? ''}`;
    // What waits as a text is counted in characters.
    const kept = this.keep(who, Math.max(waiting, Number(response.getHeader('content-length') ?? 0)));
    const { unread, responses } = this.#account(who);
    if (unread > this.#limits.unread_bytes_a_token) cutOldest(responses);
    responses.add(response);
    response.once('close', () => {
      responses.delete(response);
      kept[Symbol.dispose]();
    });
  }

  /** Counts bytes that wait for a client until they are given back. */
  keep(who: string, bytes: number): Disposable {
    const account = this.#account(who);
    const add = (more: number): void => {
      account.unread += more;
      this.#unread += more;
      this.#forgetIdle(account);
      this.#serve();
    };
    add(bytes);
    let isOpen = true;
    return {
      [Symbol.dispose]: () => {
        if (isOpen) add(-bytes);
        isOpen = false;
      },
    };
  }

  #account(who: string): Account {
    const known = this.#accounts.get(who);
    if (known !== undefined) return known;
    const account: Account = { who, unread: 0, reserved: 0, waiting: [], responses: new Set() };
    this.#accounts.set(who, account);
    return account;
  }

  #forgetIdle(account: Account): void {
    if (account.unread === 0 && account.reserved === 0 && account.waiting.length === 0)
      this.#accounts.delete(account.who);
  }

  #addReserved(account: Account, bytes: number): void {
    account.reserved += bytes;
    this.#reserved += bytes;
    this.#forgetIdle(account);
  }

  #check(account: Account | undefined, bytes: number): void {
    const fault = this.#findFault(account, bytes);
    if (fault !== undefined) throw fault;
  }

  /** What no waiting helps against: the client has to read first. */
  #findFault(account: Account | undefined, bytes: number): ForgeError | undefined {
    const { unread_bytes_a_token, unread_bytes } = this.#limits;
    const hint = 'Read the answers that are under way, or close their connections; then ask again';
    if ((account?.unread ?? 0) + bytes > unread_bytes_a_token)
      return new ForgeError('too_many_requests', 'Too many answers to this token are not read yet', {
        hint,
        details: { limit: unread_bytes_a_token, retry_after_s: 1 },
      });
    if (this.#unread + bytes > unread_bytes)
      return new ForgeError('server_busy', 'Too many answers of this server are not read yet', {
        hint,
        details: { limit: unread_bytes },
      });
    return undefined;
  }

  #fits(account: Account, bytes: number): boolean {
    const { unread_bytes_a_token, unread_bytes } = this.#limits;
    return (
      account.unread + account.reserved + bytes <= unread_bytes_a_token &&
      this.#unread + this.#reserved + bytes <= unread_bytes
    );
  }

  async #wait(account: Account, bytes: number, signal: AbortSignal | undefined): Promise<void> {
    const most = this.#limits.waiting_reads_a_token;
    if (account.waiting.length >= most)
      throw new ForgeError('too_many_requests', `${most} requests of this token wait already`, {
        hint: 'Ask for fewer things at once',
        details: { limit: most, retry_after_s: 1 },
      });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { bytes, resolve, reject };
    account.waiting.push(waiter);
    this.#waiting.add(account);
    const leave = (): void => {
      const at = account.waiting.indexOf(waiter);
      if (at === -1) return;
      account.waiting.splice(at, 1);
      reject(new ForgeError('interrupted', 'The client went away'));
      this.#forgetIdle(account);
      this.#serve();
    };
    signal?.addEventListener('abort', leave, { once: true });
    if (signal?.aborted === true) leave();
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }

  /** One read of each token in turn, as long as there is room. */
  #serve(): void {
    for (let went = true; went;) {
      went = false;
      for (const account of new Set(this.#waiting)) {
        const [next] = account.waiting;
        const fault = next === undefined ? undefined : this.#findFault(account, next.bytes);
        if (next !== undefined && fault === undefined && !this.#fits(account, next.bytes)) continue;
        account.waiting.shift();
        this.#waiting.delete(account);
        if (account.waiting.length > 0) this.#waiting.add(account);
        if (next === undefined) continue;
        went = true;
        if (fault !== undefined) {
          next.reject(fault);
          this.#forgetIdle(account);
          continue;
        }
        this.#addReserved(account, next.bytes);
        next.resolve();
      }
    }
  }
}

interface Account {
  readonly who: string;
  unread: number;
  reserved: number;
  readonly waiting: Waiter[];
  /** Ended answers that wait for their clients, the oldest first. */
  readonly responses: Set<ServerResponse>;
}

interface Waiter {
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: ForgeError) => void;
}

/** What has happened is told without a reservation: it takes the place of what was left unread longest. */
function cutOldest(responses: ReadonlySet<ServerResponse>): void {
  const [oldest] = responses;
  oldest?.destroy();
}
