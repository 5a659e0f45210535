import type { listTokens as declaration } from '#contract/access-operations.ts';
import type { OutputOf } from '#contract/declare.ts';
import { readTokenUses } from '#sync/access-port.ts';
import { listTokens } from '#sync/access-tokens.ts';
import { implement } from './operation.ts';
import { style } from './style-text.ts';
import { tableText } from './table-text.ts';
import { describeOwner, toTokenEntry } from './token-entry.ts';

type Row = OutputOf<typeof declaration>[number];

export const tokenList = implement<typeof declaration>({
  async run({ place }, { all }) {
    const uses = readTokenUses(place.home);
    return listTokens(place.home)
      .filter(({ revoked_at }) => all === true || revoked_at === undefined)
      .map((record) => ({
        ...toTokenEntry(record),
        last_used_at: uses.get(record.id) ?? null,
        revoked_at: record.revoked_at ?? null,
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
        { header: 'NAME', value: ({ name }) => name, flexible: 'first' },
        { header: 'LAST USED', value: ({ last_used_at }) => last_used_at?.slice(0, 16) ?? 'never' },
        {
          header: 'STATE',
          value: ({ revoked_at }) => (revoked_at === null ? 'valid' : `revoked ${revoked_at.slice(0, 10)}`),
        },
      ],
      tokens,
    );
  },
});
