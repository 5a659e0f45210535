import { escapeLine } from '#kernel/text.ts';
import type { NewToken, TokenRecord } from '#sync/access-tokens.ts';

export interface TokenEntry {
  readonly id: string;
  readonly name: string;
  readonly scope: TokenRecord['scope'];
  readonly agent: string | null;
  readonly user: string | null;
  readonly created_at: string;
}

/** Every key in every answer, null where there is nothing. */
export function toTokenEntry({ id, name, scope, agent, user, created_at }: TokenRecord): TokenEntry {
  return { id, name, scope, agent: agent ?? null, user: user ?? null, created_at };
}

export function toNewTokenEntry(made: NewToken): TokenEntry & { token: string } {
  return { ...toTokenEntry(made), token: made.token };
}

export function describeOwner({ agent, user }: TokenEntry): string {
  return escapeLine(agent === null ? `user ${user ?? ''}` : `agent ${agent}`);
}

/** The token stands on a line of its own, so that it can be copied. */
export function newTokenText(made: TokenEntry & { readonly token: string }): string {
  return [
    made.token,
    `Token ${made.id} for ${describeOwner(made)}, scope ${made.scope}. It is not shown again; end it: forge token revoke ${made.id}`,
  ].join('\n');
}
