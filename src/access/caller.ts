import type { Declaration } from '#contract/declare.ts';
import type { Actor } from '#domain/actor.ts';

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

/** Whether a project, by its prefix, is one that the caller may know of. */
export function reaches({ projects }: Pick<Caller, 'projects'>, prefix: string): boolean {
  return projects === undefined || projects.includes(prefix);
}
