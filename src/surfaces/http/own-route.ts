import { ForgeError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/json.ts';
import type { Caller } from '#access/caller.ts';
import type { Answer, Exchange } from './answer.ts';
import type { Target } from './guard-request.ts';
import type { RawHandler } from './http-ports.ts';
import { readKnownQuery } from './request-input.ts';
import type { Routed } from './route-table.ts';

/** What the surface itself answers: everything that is no operation. */
export interface OwnRoute extends Routed {
  readonly summary: string;
  /** Anybody may ask; everything else needs a token or a session. */
  readonly open?: true;
  /** No part of the API: the reference leaves it out. */
  readonly hidden?: true;
  /** A protocol with rules of its own for the type of a body. */
  readonly any_type?: true;
  /** Of its answer, as JSON Schema. */
  readonly output?: JsonObject;
  readonly ok?: 200 | 201;
  /** One of the two: an answer, or the response to itself. */
  readonly answer?: (request: OwnRequest) => Answer | Promise<Answer>;
  readonly raw?: RawHandler;
}

export interface OwnRequest {
  readonly exchange: Exchange;
  readonly target: Target;
  readonly values: readonly string[];
  readonly body: JsonObject;
  /** Undefined on open routes only. */
  readonly caller: Caller | undefined;
  /** The browser session, where no token was sent. */
  readonly session: string | undefined;
}

export function toJsonAnswer(value: unknown, status = 200): Answer {
  return { status, body: JSON.stringify(value) };
}

/** For a route that takes nothing: what is sent all the same is refused by name. */
export function takesNothing<A extends Answer | Promise<Answer>>(
  answer: (request: OwnRequest) => A,
): (request: OwnRequest) => A {
  return (request) => {
    readKnownQuery(request.target.query, []);
    const [name] = Object.keys(request.body);
    if (name === undefined) return answer(request);
    throw new ForgeError('invalid_input', `${JSON.stringify(name.slice(0, 80))} is not known here`, {
      details: { field: name.slice(0, 80) },
    });
  };
}
