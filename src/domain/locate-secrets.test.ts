import { describe, expect, it } from 'vitest';
import { NAMED } from '../../tests/support/named-secrets.ts';
import { locateSecrets } from './locate-secrets.ts';

const KEY = `ghp_${'a1B2'.repeat(9)}`;
const PEM = ['BEGIN', 'END'].map((word) => `-----${word} ${'PRIVATE'} KEY-----`).join('\nMIIE\n');

describe('locateSecrets', () => {
  it.each([
    [{ id: 'fg-1', title: KEY }, 'title', 'forge task update fg-1 --title "…"'],
    [{ id: 'fg-1', description: `x ${PEM}` }, 'description', 'forge task update fg-1 --description "…"'],
    [{ id: 'fg-1', metadata: { a: { b: [KEY] } } }, 'metadata.a', 'forge task update fg-1 --meta-unset a'],
    [
      { id: 'fg-1', title: KEY, deleted_at: '2026-02-10T09:00:00.000Z' },
      'title',
      'forge task restore fg-1; forge task update fg-1 --title "…"; forge task delete fg-1',
    ],
    [{ id: 'fg-1', metadata: { [KEY]: 1 } }, 'metadata.[redacted]', undefined],
    [{ id: 'fg-1', metadata: { 'a; rm -rf /': KEY } }, 'metadata.a; rm -rf /', undefined],
    [{ id: 'fg-1', comments: [{ body: KEY }] }, 'comments', undefined],
    [{ task: 'fg-1', from: 'todo', to: 'done', reason: KEY }, 'reason', undefined],
    [
      { id: 'fg-1', state_fields: { review_config: { ci_steps: [`curl ${KEY}`] } } },
      'state_fields',
      undefined,
    ],
  ])('[H5] names the task, the field and the command for %j', (record, field, command) => {
    const [found, ...more] = locateSecrets(JSON.stringify(record));
    expect(more).toEqual([]);
    expect(found).toMatchObject({ id: 'fg-1', field, command });
  });

  it('names the key of a file that is no task', () => {
    expect(locateSecrets(`  "token": "${KEY}",`)).toMatchObject([{ id: undefined, field: 'token' }]);
    expect(locateSecrets(`{"id":"torn ${KEY}`)).toMatchObject([{ id: undefined }]);
    expect(locateSecrets('{"id":"fg-1","title":"harmless"}')).toEqual([]);
  });

  const inLine = (more: object) => locateSecrets(JSON.stringify({ id: 'fg-1', title: 'x', ...more }));
  it.each(NAMED)(
    '[S2] finds %s: %s%s in a text, in metadata and in whatever is in it',
    (name, before, secret) => {
      const value = `${before}${secret}${secret.includes('"') ? '"' : ''}`;
      const found = (field: string) => [expect.objectContaining({ id: 'fg-1', field, value: secret })];
      expect(inLine({ description: `${name}=${value}` })).toEqual(found('description'));
      for (const one of [value, [value], { default: value }, { a: { b: [value] } }])
        expect(inLine({ metadata: { [name]: one } })).toEqual(found(`metadata.${name}`));
      for (const one of [{ [name]: value }, [{ name, value }], [name, value], { key: name, value }])
        expect(inLine({ metadata: { env: one } })).toEqual(found('metadata.env'));
      expect(inLine({ [name]: value })).toEqual(found(name));
      expect(inLine({ metadata: { key: name, note: value } })).toEqual(found('line'));
      expect(inLine({ conflicts: { [`metadata.${name}@mwls5so8.bhj`]: value } })).toEqual(found('conflicts'));
    },
  );

  it('[S2] finds a key of a line that is one itself', () => {
    expect(inLine({ [KEY]: 1 })).toMatchObject([{ id: 'fg-1', field: '[redacted]', value: KEY }]);
    expect(inLine({ metadata: { a: { [KEY]: 1 } } })).toMatchObject([{ field: 'metadata.a', value: KEY }]);
  });

  it('leaves alone what only has such a name', () => {
    expect(
      inLine({ metadata: { api_key: 'in the vault', Authorization: 'Bearer <token>', token: 7 } }),
    ).toEqual([]);
  });

  const NAMES = ['npm:_authToken', '_authToken', 'Authorization', 'AWS_SESSION_TOKEN'];
  it.each(NAMES)(
    '[S20] passes over the times of %s in the stamps of a line, and over nothing else',
    (name) => {
      for (const at of ['mwls5sy8', '-mwls5sy8', '-mw1s5s08'])
        expect(inLine({ _v: { [name]: at, metadata: ['mwls5sed', { [name]: at }] } })).toEqual([]);
      // Not a time, too late for one, or not where times are.
      const basic = 'Basic YWRtaW46aHVudGVyMjIyMg==';
      expect(inLine({ _v: { metadata: ['mwls5sed', { Authorization: basic }] } })).toMatchObject([
        { field: '_v' },
      ]);
      expect(inLine({ _v: { metadata: ['mwls5sed', { [KEY]: '-mwls5sy8' }] } })).toMatchObject([
        { field: '_v' },
      ]);
      expect(inLine({ _v: { [name]: KEY } })).toMatchObject([{ field: '_v' }]);
      expect(inLine({ _v: { 'a:_authToken': 'zz1s5s0899' } })).toMatchObject([{ field: '_v' }]);
      expect(inLine({ metadata: { 'a:_authToken': 'mw1s5s08' }, _v: { a: 'mw1s5s08' } })).toMatchObject([
        { field: 'metadata.a:_authToken' },
      ]);
    },
  );

  it('[S2] finds what another key of the same name hides', () => {
    const line = `{"id":"fg-1","title":"${KEY}","title":"x"}`;
    expect(locateSecrets(line)).toMatchObject([{ id: 'fg-1', field: 'line', value: KEY }]);
  });
});
