import { fieldsOf, numberOf, parseFields, textOf, type Fields } from './fields.ts';
import type { SessionStep } from './session.ts';

/** A message of JSON-RPC 2.0, or of Codex's kind of it, which leaves the version out. */
export type RpcMessage =
  | { readonly kind: 'request'; readonly id: RpcId; readonly method: string; readonly params: Fields }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Fields }
  | { readonly kind: 'result'; readonly id: RpcId; readonly result: Fields }
  | { readonly kind: 'error'; readonly id: RpcId; readonly error: RpcError };

export type RpcId = string | number;

export interface RpcError {
  readonly code: number | undefined;
  readonly message: string;
  readonly data: Fields;
}

/** Undefined for a line that is none. */
export function parseRpc(line: string): RpcMessage | undefined {
  const message = parseFields(line);
  if (message === undefined) return undefined;
  const id = toId(message['id']);
  const method = textOf(message['method']);
  if (method !== undefined) {
    const params = fieldsOf(message['params']);
    return id === undefined
      ? { kind: 'notification', method, params }
      : { kind: 'request', id, method, params };
  }
  if (id === undefined) return undefined;
  if (message['error'] === undefined || message['error'] === null)
    return { kind: 'result', id, result: fieldsOf(message['result']) };
  const error = fieldsOf(message['error']);
  return {
    kind: 'error',
    id,
    error: {
      code: numberOf(error['code']),
      message: textOf(error['message']) ?? 'no reason given',
      data: fieldsOf(error['data']),
    },
  };
}

/** Id and method of a request whose end is missing. */
export function findCutRequest(head: string): { readonly id: RpcId; readonly method: string } | undefined {
  const start = head.slice(0, 1_000);
  const [, method] = /"method":\s*"([^"]+)"/.exec(start) ?? [];
  const [, number, text] = /"id":\s*(?:(\d+)|"([^"]+)")/.exec(start) ?? [];
  const id = number === undefined ? text : Number(number);
  return method === undefined || id === undefined ? undefined : { id, method };
}

function toId(value: unknown): RpcId | undefined {
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}

/** Our requests, and what each was for. */
export class RpcCalls<Purpose extends string> {
  readonly #open = new Map<RpcId, Purpose>();
  readonly #version: Fields;
  #last = 0;

  /** Codex leaves `jsonrpc` out. */
  constructor(version: Fields) {
    this.#version = version;
  }

  call(purpose: Purpose, method: string, params: Fields): SessionStep {
    this.#last += 1;
    this.#open.set(this.#last, purpose);
    return this.#line({ id: this.#last, method, params });
  }

  notify(method: string, params: Fields = {}): SessionStep {
    return this.#line({ method, params });
  }

  respond(id: RpcId, result: Fields): SessionStep {
    return this.#line({ id, result });
  }

  fail(id: RpcId, message: string): SessionStep {
    return this.#line({ id, error: { code: -32_603, message } });
  }

  refuse(id: RpcId, method: string): SessionStep {
    return this.#line({ id, error: { code: -32_601, message: `Forge does not answer ${method}` } });
  }

  /** What the request with this id was for; undefined for an id that was never sent, or was answered before. */
  settle(id: RpcId): Purpose | undefined {
    const purpose = this.#open.get(id);
    this.#open.delete(id);
    return purpose;
  }

  #line(message: Fields): SessionStep {
    return { do: 'write', line: JSON.stringify({ ...this.#version, ...message }) };
  }
}
