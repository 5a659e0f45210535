import type { IncomingMessage, ServerResponse } from 'node:http';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';

export interface BodyLimits {
  readonly body_bytes_a_token: number;
  readonly body_bytes_all: number;
}

/** A body without a length counts as so much from its beginning, because Node reads that much ahead. */
const READ_AHEAD = 65_536;

/**
 * Counts the bytes of bodies from their announcement until their requests are answered, for each token and for
 * all together: they are kept in memory while they come and while their requests wait.
 */
export class BodyBudget {
  readonly #limits: BodyLimits;
  readonly #held = new Map<string, number>();
  #all = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /**
   * Counts the body of this request. Throws too_many_requests and server_busy; `refuse` is told of them where a body that
   * announced no length grows beyond the bound.
   */
  hold(
    request: IncomingMessage,
    response: ServerResponse,
    { who, refuse }: { readonly who: string; readonly refuse: (error: ForgeError) => void },
  ): void {
    const { headers } = request;
    const isChunked = headers['transfer-encoding'] !== undefined;
    // Of a larger one no more is read than that.
    const announced = Math.min(Number(headers['content-length'] ?? 0), LIMITS.mcp_body_bytes);
    if (!isChunked && !(announced > 0)) return;
    let [bytes, isGivenBack] = [0, false];
    const take = (more: number): ForgeError | undefined => {
      // A body may go on coming after its answer; nothing keeps it, and nothing would give it back.
      if (isGivenBack) return undefined;
      const fault = this.#findFault(who, more);
      if (fault !== undefined) return fault;
      bytes += more;
      this.#add(who, more);
      return undefined;
    };
    const fault = take(isChunked ? READ_AHEAD : announced);
    if (fault !== undefined) throw fault;
    response.once('close', () => {
      isGivenBack = true;
      this.#add(who, -bytes);
    });
    if (isChunked) countPushed(request, { from: READ_AHEAD, take, refuse });
  }

  #findFault(who: string, more: number): ForgeError | undefined {
    const { body_bytes_a_token, body_bytes_all } = this.#limits;
    const hint = 'Wait for the answers to the requests that are under way, then send it again';
    if ((this.#held.get(who) ?? 0) + more > body_bytes_a_token)
      return new ForgeError(
        'too_many_requests',
        'The bodies of the requests under way are too large together',
        {
          hint,
          details: { limit: body_bytes_a_token, retry_after_s: 1 },
        },
      );
    if (this.#all + more > body_bytes_all)
      return new ForgeError(
        'server_busy',
        'The bodies of all requests of this server are too large together',
        {
          hint,
          details: { limit: body_bytes_all },
        },
      );
    return undefined;
  }

  #add(who: string, more: number): void {
    this.#all += more;
    const held = (this.#held.get(who) ?? 0) + more;
    if (held > 0) this.#held.set(who, held);
    else this.#held.delete(who);
  }
}

/** Node's parser pushes what it has read of a body into the request, read from there or not. */
function countPushed(
  request: IncomingMessage,
  counter: {
    readonly from: number;
    readonly take: (more: number) => ForgeError | undefined;
    readonly refuse: (error: ForgeError) => void;
  },
): void {
  const push = request.push.bind(request);
  let [size, counted, isRefused] = [0, counter.from, false];
  request.push = (chunk: Uint8Array | null, ...more) => {
    size += chunk?.length ?? 0;
    if (size > counted && !isRefused) {
      const fault = counter.take(size - counted);
      counted = size;
      isRefused = fault !== undefined;
      if (fault !== undefined) counter.refuse(fault);
    }
    // What is refused is not kept.
    return push(isRefused && chunk !== null ? new Uint8Array(0) : chunk, ...more);
  };
}
