import type { listTokens as declaration } from '#contract/access-operations.ts';
import type { OutputOf } from '#contract/declare.ts';
import { readTokenUses } from '#sync/access-port.ts';
import { isGood, listTokenFaults, listTokens } from '#sync/access-tokens.ts';
import { implement } from './operation.ts';
import { style } from './style-text.ts';
import { tableText } from './table-text.ts';
import { describeOwner, toTokenEntry } from './token-entry.ts';

type Row = OutputOf<typeof declaration>[number];

function describeState({ revoked_at, expires_at, expired }: Row): string {
  if (revoked_at !== null) return `revoked ${revoked_at.slice(0, 10)}`;
  if (expires_at === null) return 'valid';
  return `${expired ? 'ended' : 'until'} ${expires_at.slice(0, 10)}`;
}

export const tokenList = implement<typeof declaration>({
  async run({ place, clock, host }, { all }) {
    for (const { message } of listTokenFaults(place.home)) host.notice(message);
    const now = clock.now();
    const uses = readTokenUses(place.home);
    return listTokens(place.home)
      .filter((record) => all === true || record.revoked_at === undefined)
      .map((record) => ({
        ...toTokenEntry(record),
        last_used_at: uses.get(record.id) ?? null,
        revoked_at: record.revoked_at ?? null,
        expired: record.revoked_at === undefined && !isGood(record, now),
      }));
  },
  text(tokens, view) {
    if (tokens.length === 0) return 'No token. Make one: forge token create --scope task';
    return tableText<Row>(
      view,
      [
        { header: 'ID', value: ({ id }) => id, style: (text) => style(view, 'bold', text) },
        { header: 'SCOPE', value: ({ scope }) => scope },
        { header: 'OF', value: describeOwner, flexible: true },
        { header: 'FOR', value: ({ projects }) => projects?.join(' ') ?? 'all', flexible: true },
        { header: 'NAME', value: ({ name }) => name, flexible: 'first' },
        { header: 'LAST USED', value: ({ last_used_at }) => last_used_at?.slice(0, 16) ?? 'never' },
        {
          header: 'STATE',
          value: describeState,
        },
      ],
      tokens,
    );
  },
});
