import { describe, expect, it } from 'vitest';
import { a1B2 } from '../../tests/support/named-secrets.ts';
import { createLineMask, findSecrets, listSecrets, maskSecrets } from './find-secrets.ts';

const hex = (length: number): string => '0a1b2c3d'.repeat(10).slice(0, length);

/** What stands before it, the value, and what stands behind it. Put together here, so that no search for keys finds one. */
const ISSUED: readonly (readonly [string, string, string, string])[] = [
  ['a key of Azure', 'AccountName=x;AccountKey=', `${a1B2(86)}==`, ';EndpointSuffix=core.windows.net'],
  ['a key of Azure', 'SharedAccessKeyName=x;SharedAccessKey=', `${a1B2(43)}=`, ''],
  ['a signed address of Azure', 'https://x/y?sv=2022-11-02&se=2026-01-01&sig=', `${a1B2(43)}%3D`, '&sp=r'],
  ['a signed address of Azure', 'x?sig=', `${a1B2(40)}%2Ba%3D`, '&se=2026-01-01'],
  ['a DigitalOcean token', '', `dop_v1_${hex(64)}`, ''],
  ['a PyPI token', '', `pypi-AgEIcHlwaS5vcmc${a1B2(80)}`, ''],
  ['a Docker token', '', `dckr_pat_${a1B2(27)}`, ''],
  ['a Vault token', '', `hvs.${a1B2(90)}`, ''],
  ['a Vault token', '', `hvb.${a1B2(30)}`, ''],
  ['a SendGrid key', '', `SG.${a1B2(22)}.${a1B2(43)}`, ''],
  ['a Databricks token', '', `dapi${hex(32)}`, ''],
  ['a Databricks token', '', `dapi${hex(32)}-2`, ''],
  ['a Shopify token', '', `shpat_${hex(32)}`, ''],
  ['a Linear key', '', `lin_api_${a1B2(40)}`, ''],
  ['a Supabase token', '', `sbp_${hex(40)}`, ''],
  ['an Atlassian token', '', `ATATT3xFfGF0${a1B2(180)}`, ''],
  ['a private key of age', '', `AGE-SECRET-KEY-1${'QPZRY9X8GF'.repeat(6).slice(0, 58)}`, ''],
  ['a value of X-Api-Key', 'X-Api-Key: ', a1B2(40), ''],
  ['a value of X-Api-Key', "-H 'x-api-key:", a1B2(16), "'"],
  ['a value of X-Api-Key', '{"x-api-key":"', a1B2(20), '"}'],
  ['a password of curl', 'curl -u admin:', 'hunter2pass99', ' https://x'],
  ['a password of curl', 'curl -sS --fail --user "admin:', 'hunter2pass99', '" https://x'],
  ['a password of curl', 'curl https://x -uadmin:', 'correct-horse', ''],
  ['a password of a database', 'Server=x;User Id=sa;Password=', 'hunter2Pass99', ';'],
  ['a password of a database', 'Host=db;Uid=sa;Pwd=', 'p$ss(w)rd!', ';Database=y'],
  ['a password in an address', 'jdbc:mysql://h/db?user=u&password=', 'hunter2pass99', ''],
];

describe('[U4] what others have issued', () => {
  it.each(ISSUED)('is found: %s behind %s', (name, before, value, after) => {
    expect(listSecrets(`${before}${value}${after}`)).toEqual([{ name, value }]);
    expect(maskSecrets(`x ${before}${value}${after} y`)).toBe(`x ${before}[redacted]${after} y`);
    expect(createLineMask()(`${before}${value}${after}`)).toBe(`${before}[redacted]${after}`);
    expect(findSecrets(JSON.stringify({ a: `${before}${value}${after}` }))).toEqual([name]);
  });

  it.each([
    'AccountKey=<your key> and AccountKey=$KEY and account key: see the vault',
    `AccountKey=${'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq'}/K1SZFPTOtr/KBHBeksoGMGw==`,
    'a?sig=short&se=1 and design=modern-and-simple-with-many-words-in-it-and-more',
    'dop_v1_token, pypi-AgE, pypi-publish-action, dckr_pat_, hvs.token, the SG.UI.Elements.And.Other.Names',
    'dapi and dapi-client-library, shpat_token, lin_api_key, sbp_url, ATATT3, AGE-SECRET-KEY-1 alone',
    'X-Api-Key: <key>, x-api-key: $KEY, X-Api-Key: your-api-key-goes-here, X-Api-Key is a header',
    'curl -u user:password https://x, curl -u "$USER:$PASSWORD" https://x, docker run -u 1000:1000 alpine',
    'curl -u user https://x; docker run --user 1000:1000 alpine',
    'Server=x;User Id=sa;Password=<password>; and user = a; password = readPassword()',
    'PWD=/home/ann and OLDPWD=/tmp and https://x/login?user=a&password=secret',
  ])('is not: %s', (text) => {
    expect(findSecrets(text)).toEqual([]);
    expect(maskSecrets(text)).toBe(text);
  });
});
