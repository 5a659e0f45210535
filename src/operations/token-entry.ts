import { toDurationMs } from '#kernel/duration.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import type { NewToken, TokenRecord } from '#sync/access-tokens.ts';

export interface TokenEntry {
  readonly id: string;
  readonly name: string;
  readonly scope: TokenRecord['scope'];
  readonly agent: string | null;
  readonly user: string | null;
  readonly projects: string[] | null;
  readonly created_at: string;
  readonly expires_at: string | null;
}

/** Every key in every answer, null where there is nothing. */
export function toTokenEntry(record: TokenRecord): TokenEntry {
  const { id, name, scope, agent = null, user = null, projects, created_at, expires_at = null } = record;
  return { id, name, scope, agent, user, projects: projects ? [...projects] : null, created_at, expires_at };
}

/** An agent's token is forgotten more easily than a person's, so it ends by itself. */
export function tokenTime({
  agent,
  expires,
}: {
  readonly agent?: string | undefined;
  readonly expires?: string | undefined;
}): number | undefined {
  if (expires !== undefined) return toDurationMs(expires);
  return agent === undefined ? undefined : toDurationMs(`${LIMITS.agent_token_days}d`);
}

export function toNewTokenEntry(made: NewToken): TokenEntry & { token: string } {
  return { ...toTokenEntry(made), token: made.token };
}

export function describeOwner({ agent, user }: TokenEntry): string {
  return escapeLine(agent === null ? `user ${user ?? ''}` : `agent ${agent}`);
}

function describeReach({ projects, expires_at }: TokenEntry): string {
  const where = projects === null ? '' : `, only for ${projects.map(escapeLine).join(', ')}`;
  return expires_at === null ? where : `${where}, until ${expires_at.slice(0, 16)}`;
}

/** The token stands on a line of its own, so that it can be copied. */
export function newTokenText(made: TokenEntry & { readonly token: string }): string {
  return [
    made.token,
    `Token ${made.id} for ${describeOwner(made)}, scope ${made.scope}${describeReach(made)}. It is not shown again; end it: forge token revoke ${made.id}`,
  ].join('\n');
}
