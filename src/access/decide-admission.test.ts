import { describe, expect, it } from 'vitest';
import { decideAdmission } from './decide-admission.ts';

describe('decideAdmission, the whole table', () => {
  const all = (['none', 'known', 'unknown'] as const).flatMap((token) =>
    [true, false].flatMap((session) =>
      [true, false].flatMap((csrf) => [true, false].map((changes) => ({ token, session, csrf, changes }))),
    ),
  );

  it.each(all)('token $token, session $session, its header $csrf, a change: $changes', (facts) => {
    const { token, session, csrf, changes } = facts;
    const bySession = session && (csrf || !changes) ? 'by_session' : 'refused';
    const expected = { known: 'by_token', unknown: 'refused', none: bySession }[token];
    expect(decideAdmission(facts).outcome).toBe(expected);
  });

  it.each([
    [{ token: 'unknown', session: true }, 'The token is not known, or was revoked'],
    [{ token: 'none', session: false }, 'A token is needed'],
    [
      { token: 'none', session: true },
      'A session alone changes nothing: send its Forge-Csrf header, or a token',
    ],
  ] as const)('%j: %s', (facts, why) => {
    expect(decideAdmission({ csrf: false, changes: true, ...facts })).toEqual({ outcome: 'refused', why });
  });
});
