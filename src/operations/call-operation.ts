import type { Declaration } from '#contract/declare.ts';
import type { Actor } from '#domain/actor.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Portion } from './operation.ts';

/** Who calls a server, as its token says; nothing of it comes from the request's content. */
export interface Caller {
  readonly actor: Actor;
  readonly scope: Scope;
  /** The token's id, so that a revoked one ends what it began. */
  readonly token: string;
  /** Prefixes of the only projects that the token is for; undefined for all. */
  readonly projects?: readonly string[] | undefined;
}

export type Scope = Declaration['access'];

/** Each scope holds those before it. */
export const SCOPES: readonly Scope[] = ['read', 'task', 'exec', 'admin'];

export function allows(held: Scope, needed: Scope): boolean {
  return SCOPES.indexOf(held) >= SCOPES.indexOf(needed);
}

export function scopeError(
  name: string,
  scopes: { readonly needed: Scope; readonly held: Scope },
): ForgeError {
  const { needed, held } = scopes;
  return new ForgeError(
    'permission_denied',
    `${name} needs a token with the scope ${needed}; this one has ${held}`,
    { hint: `forge token create --scope ${needed}`, details: { operation: name, needed, held } },
  );
}

/** Whether a project, by its prefix, is one that the caller may know of. */
export function reaches({ projects }: Pick<Caller, 'projects'>, prefix: string): boolean {
  return projects === undefined || projects.includes(prefix);
}

export interface OperationCall {
  /** `task.claim` */
  readonly name: string;
  /** As it came in; it is checked here. */
  readonly input: unknown;
  readonly caller: Caller;
  /** A project's prefix or name. Undefined: what the task's id says, else the only one there is. */
  readonly project?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How much of a list is read in this turn. */
  readonly portion?: Portion | undefined;
}

/**
 * The one way from a server's surfaces to the operations: checks the scope, the input (unknown fields are refused by
 * name), finds the project and runs. Rejects with ForgeError and nothing else.
 */
export interface OperationCaller {
  call(call: OperationCall): Promise<unknown>;
}
