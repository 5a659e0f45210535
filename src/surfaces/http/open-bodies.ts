import type { IncomingMessage, ServerResponse } from 'node:http';
import { ForgeError } from '#kernel/errors.ts';

/** Counts requests whose body has not come to its end, for each token or, where none is needed, each address. */
export class OpenBodies {
  readonly #most: number;
  readonly #counts = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts the request until its body has come or it is answered. Throws too_many_requests. */
  begin(request: IncomingMessage, response: ServerResponse, who: string): void {
    if (request.complete || !announcesBody(request)) return;
    const count = this.#counts.get(who) ?? 0;
    if (count >= this.#most) {
      throw new ForgeError('too_many_requests', `${this.#most} requests wait for the rest of their bodies`, {
        hint: 'Send the bodies of those first',
        details: { limit: this.#most, retry_after_s: 1 },
      });
    }
    this.#counts.set(who, count + 1);
    let isOpen = true;
    const end = (): void => {
      if (isOpen) this.#drop(who);
      isOpen = false;
    };
    request.once('end', end).once('close', end);
    response.once('close', end);
  }

  #drop(who: string): void {
    const count = (this.#counts.get(who) ?? 0) - 1;
    if (count > 0) this.#counts.set(who, count);
    else this.#counts.delete(who);
  }
}

/** Node says that a request is complete only after its handler was called. */
function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
