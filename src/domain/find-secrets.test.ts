import { describe, expect, it, vi } from 'vitest';
import { createLineMask, findSecrets, listSecrets, maskSecrets } from './find-secrets.ts';

/** Put together here, so that nobody who looks for keys finds one in this file. */
const KEYS: readonly (readonly [string, string])[] = [
  ['a private key', `-----BEGIN OPENSSH ${'PRIVATE'} KEY-----\nMIIE`],
  ['a private key', `-----BEGIN ${'PRIVATE'} KEY-----\nMIIE`],
  ['an AWS key', `AKIA${'A1'.repeat(8)}`],
  ['a GitHub token', `ghp_${'a1B2'.repeat(9)}`],
  ['a GitHub token', `github_pat_${'a1'.repeat(20)}`],
  ['a GitLab token', `glpat-${'a1'.repeat(10)}`],
  ['a Slack token', `xoxb-${'12'.repeat(10)}`],
  ['a key of a model provider', `sk-ant-api03-${'a1'.repeat(20)}`],
  ['a Google key', `AIza${'a1'.repeat(17)}a`],
  ['an npm token', `npm_${'a1B2'.repeat(9)}`],
];

/** [A14-5] */
const a1B2 = (length: number): string => 'a1B2'.repeat(50).slice(0, length);
const MORE: readonly (readonly [string, string])[] = [
  ...['ptt', 'dt', 'rt', 'cbt', 'rtr', 'ffct', 'wt'].map(
    (kind) => ['a GitLab token', `gl${kind}-${a1B2(20)}`] as const,
  ),
  ['a Slack token', `xapp-1-A${a1B2(10)}-1234567890123-${a1B2(64)}`],
  ['the address of a Slack hook', `hooks.slack.com/services/T1${a1B2(7)}/B1${a1B2(7)}/${a1B2(24)}`],
  ['a Google token', `ya29.${a1B2(100)}`],
  ['a Google token', `GOCSPX-${a1B2(28)}`],
  ...[`hf_${a1B2(34)}`, `gsk_${a1B2(52)}`, `xai-${a1B2(80)}`, `r8_${a1B2(37)}`, `pplx-${a1B2(48)}`].map(
    (key) => ['a key of a model provider', key] as const,
  ),
  ['a key of a model provider', `fw_${a1B2(24)}`],
  ['a GitLab token', `GR1348941${a1B2(20)}`],
  ['a GitLab token', `glpat-${a1B2(36)}.01.0j1${a1B2(7)}`],
  ['a GitLab token', `glpat-abc.01.${a1B2(19)}`],
  ['a Slack token', `xoxc-123456789012-123456789012-${a1B2(16)}`],
  ['a Slack token', `xoxd-${a1B2(24)}%2B${a1B2(12)}`],
  ['a Stripe key', `sk_test_${a1B2(24)}`],
  ['a Stripe key', `rk_test_${a1B2(24)}`],
  ['a Stripe key', `whsec_${a1B2(32)}`],
  ['a Google token', `1//0g${a1B2(20)}-${a1B2(40)}_x`],
  ['a Google token', `AQ.Ab8RN6${a1B2(44)}`],
  ['a key of AWS Bedrock', `ABSK${a1B2(60)}=`],
  ['a JSON web token', `eyJ${a1B2(40)}.${a1B2(64)}.${a1B2(16)}.${a1B2(60)}.${a1B2(22)}`],
  ['a JSON web token', `eyAi${a1B2(30)}.eyJ${a1B2(60)}.${a1B2(43)}`],
  ['a JSON web token', `ewog${a1B2(30)}.ewog${a1B2(60)}.${a1B2(43)}`],
  ['a JSON web token', `eyJ${a1B2(40)}..${a1B2(16)}.${a1B2(60)}.${a1B2(22)}`],
  ['a Stripe key', `sk_live_${a1B2(24)}`],
  ['a Stripe key', `rk_live_${a1B2(24)}`],
  ['a JSON web token', `eyJ${a1B2(30)}.eyJ${a1B2(60)}.${a1B2(43)}`],
  ['a token of Forge', `fgt_${a1B2(43)}`],
  ['a private key', `-----BEGIN PGP ${'PRIVATE'} KEY BLOCK-----\nVersion: GnuPG v2.0 (GNU/Linux)\n\nlQdG/+=`],
  ['a private key', `${'Private'}-Lines: 2\n${a1B2(64)}\n${a1B2(30)}\nPrivate-MAC: ${'0a'.repeat(32)}`],
];

/** What stands before it, the value, and what stands behind it. */
const NAMED: readonly (readonly [string, string, string, string])[] = [
  ['an AWS secret key', 'aws_secret_access_key = ', a1B2(40), ''],
  ['an AWS secret key', 'AWS_SECRET_ACCESS_KEY: ', a1B2(40), ''],
  ['an AWS secret key', '{"SecretAccessKey": "', a1B2(40), '"}'],
  ['an AWS secret key', '{\\"SecretAccessKey\\":\\"', a1B2(40), '\\"}'],
  ['a session token', 'aws_session_token=', a1B2(200), ''],
  ['a session token', '"SessionToken": "', `${a1B2(196)}/+==`, '"'],
  ['an AWS secret key', '<SecretAccessKey>', a1B2(40), '</SecretAccessKey>'],
  ['an AWS secret key', '|  SecretAccessKey  |  ', a1B2(40), '  |'],
  ['an AWS secret key', 'ENV AWS_SECRET_ACCESS_KEY ', a1B2(40), ''],
  ['an AWS secret key', 'set -x AWS_SECRET_ACCESS_KEY ', a1B2(40), ''],
  ['an AWS secret key', '"secret_access_key"=>"', a1B2(40), '"'],
  ['an AWS secret key', "('aws_secret_access_key', '", a1B2(40), "')"],
  ['an AWS secret key', 'AWS Secret Access Key [None]: ', a1B2(40), ''],
  ['an AWS secret key', 'secret_key = "', a1B2(40), '"'],
  ['a session token', '<SessionToken>', a1B2(200), '</SessionToken>'],
  ['a session token', '|  SessionToken  |  ', a1B2(200), '  |'],
  ['a session token', 'ENV AWS_SESSION_TOKEN ', a1B2(200), ''],
  ['a session token', ':session_token => "', a1B2(200), '"'],
  ['a value of Authorization', 'Authorization: Bearer ', a1B2(40), ''],
  ['a value of Authorization', "-H 'authorization: bearer ", '123e4567-e89b-12d3-a456-426614174000', "'"],
  ['a value of Authorization', 'AUTHORIZATION: basic ', `${a1B2(30)}==`, ''],
  ['a value of Authorization', 'Authorization: token ', a1B2(40), ''],
  ...['ab12cd34', 'ab12cd34ef56gh78', 'ab12cd34ef56gh78ij9'].flatMap((value) =>
    ['Bearer', 'bearer', 'Bot', 'Token', 'Basic', 'Negotiate', 'ApiKey'].map(
      (scheme) => ['a value of Authorization', `Authorization: ${scheme} `, value, ''] as const,
    ),
  ),
  ['a value of Authorization', 'Authorization: Basic ', 'YTpiYzEyMzQ=', ''],
  ['a value of Authorization', 'Authorization: Bot ', `${a1B2(24)}.Cl2FMQ.${a1B2(27)}`, ''],
  ['a value of Authorization', 'Authorization: Negotiate ', `YIIJvwYGKwYBBQUC${a1B2(30)}`, ''],
  ['a value of Authorization', '{"Authorization"=>"Basic ', `${a1B2(22)}==`, '"}'],
  ['a value of Authorization', "('Authorization', 'Basic ", `${a1B2(22)}==`, "')"],
  ['a value of Authorization', '["authorization","Basic ', `${a1B2(22)}==`, '"]'],
  ['a value of Authorization', '"authorization": ["Bearer ', 'ab12cd34ef56', '"]'],
  ['a value of Authorization', '{\\"Authorization\\":\\"Bearer ', 'ab12cd34ef56', '\\"}'],
  ['a value of Authorization', 'Proxy-Authorization: Basic ', 'YTpiYzEyMzQ=', ''],
  ['a value of Authorization', 'Authorization: Token ', `token="${a1B2(24)}`, '"'],
  ['a value of Authorization', 'Authorization: Token ', `token=${a1B2(24)}`, ' end'],
  [
    'a value of Authorization',
    'Authorization: Digest ',
    `username="u", realm="a b", response="${'6629fae4'.repeat(4)}`,
    '"',
  ],
  [
    'a value of Authorization',
    "-H 'Authorization: Digest ",
    `username="u", response="${'6629fae4'.repeat(4)}`,
    `"'`,
  ],
  [
    'a value of Authorization',
    'Authorization: AWS4-HMAC-SHA256 ',
    `Credential=x/2026/us/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=${'fe5f80f7'.repeat(8)}`,
    '',
  ],
  ['an npm token', '//registry.npmjs.org/:_authToken=', '00000000-1111-2222-3333-aaaaaaaaaaaa', ''],
  ['an npm token', '//r/:_authToken = "', a1B2(36), '"'],
  ['an npm token', 'npm config set _authToken=', a1B2(36), ''],
  ['an npm token', '//r/:_auth=', 'YWRtaW46aHVudGVyMjIyMg==', ''],
  ['an npm token', '_auth = "', 'YWRtaW46aHVudGVyMjIyMg==', '"'],
  ['a password in an address', 'https://bob:', a1B2(20), '@git.example.com/x.git'],
  ['a password in an address', 'postgres://:', 'p4ss!wörd', '@db:5432/x'],
];

const HIDDEN: readonly (readonly [string, string])[] = [
  ...[...KEYS, ...MORE].filter(([, key]) => !/^(?:fw_|1\/\/|-----|Private)/.test(key)),
  ['a key of a model provider', `sk-proj-${a1B2(74)}T3BlbkFJ${a1B2(74)}`],
  ['a key of a model provider', `sk-or-v1-${'0a'.repeat(32)}`],
];

describe('findSecrets', () => {
  it.each(KEYS)('knows %s', (name, key) => {
    expect(findSecrets(`The key is ${key}.`)).toEqual([name]);
  });

  it.each([
    'fg-a3f8 is blocked by fg-b2c1',
    'sk-learn and ask-me-anything',
    'npm_config_registry and AIza',
    'a'.repeat(500),
    '3a9f1c2d4e5f60718293a4b5c6d7e8f901234567',
    '-----BEGIN PUBLIC KEY-----',
    'sk-folding-cube-animation-wrapper-container',
    // [A14-5], [A14-6]
    'hf_hub_download(repo_id) and hf_transfer_enabled_by_default_for_everything',
    `hf_${'x'.repeat(34)}`,
    'task-2026-01-02-a-very-long-name-of-a-branch-with-numbers',
    'disk-3a9f1c2d4e5f60718293a4b5c6d7e8f901234567',
    'task-admin-dashboard-2-with-many-other-words-in-it',
    'EURASIAPACIFICREGIONSANDMORE',
    '123e4567-e89b-12d3-a456-426614174000',
    `sha512-${'a1B2'.repeat(21)}a==`,
    `integrity ${'3a9f1c2d'.repeat(8)}`,
    'fw_update_available_for_device_2 and r8_shrinker',
    'glrt-runner and gldt-',
    'xai-grok and pplx-api',
    'aws_secret_access_key = <your secret key>',
    'AWS_SECRET_ACCESS_KEY=${{ secrets.AWS_SECRET_ACCESS_KEY }}',
    'AWS_SECRET_ACCESS_KEY=os.environ["AWS_SECRET_ACCESS_KEY"]',
    `aws_secret_access_key=${'x'.repeat(40)}`,
    'the secret key of AWS: 3a9f1c2d4e5f60718293a4b5c6d7e8f901234567890',
    'secret key rotation is in src/providers/rotation/of/keys/version2',
    '<SecretAccessKey>your-secret-access-key</SecretAccessKey>',
    '| SecretAccessKey | string | the secret key that is used to sign requests |',
    'ENV AWS_SECRET_ACCESS_KEY $SECRET and set -x AWS_SESSION_TOKEN $TOKEN',
    'session token expired at 2026-11-18T03:49:58.123Z for user 12345678901234567890',
    'session_token = request.headers.get("X-Session-Token-Of-The-Caller-2")',
    'Authorization: Bearer $TOKEN',
    'Authorization: Bearer <token>',
    'Authorization: Bearer YOUR_ACCESS_TOKEN_GOES_HERE',
    'the bearer token-authentication-v2-rollout-plan',
    'authorization: required-for-all-routes-since-v2',
    'Authorization: Bearer, Authorization: Basic <credentials>, Authorization: Token token="<token>"',
    'Authorization: Token token=$TOKEN and Authorization: Digest username="bob", realm="users"',
    'Authorization: Bearer your-token and {"authorization": "Bearer " + token}',
    'authorization: see the page of version 2024 and authorization = config.enabled',
    'Authorization: Bearer ${{ secrets.GITHUB_TOKEN }} and authorization, authentication12',
    'https://user:password@example.com and https://x-access-token:$TOKEN@github.com',
    'postgres://postgres:postgres@localhost:5432/app',
    'https://user:${PASSWORD}@host, https://user:<password>@host, https://u:***@host',
    'http://localhost:3000/a@b and ssh://git@host:22/x and git@github.com:a/b.git',
    `https://${'hooks.slack.com'}/services/T00000000/B00000000/${'X'.repeat(24)}`,
    'eyJhbGciOiJIUzI1NiJ9 alone, eyJ.eyJ.x',
    'fgt_token and sk_live_ and sk_test_',
    'sk_test_and_other_names, whsec_your_signing_secret, whsec_test_secret_of_the_documentation',
    '//registry.npmjs.org/:_authToken=${NPM_TOKEN} and //r/:_authToken=$TOKEN and :_auth=',
    'this._auth = base64Encode(x); const _authToken = uuid4OfUser(y); is_auth = true; _auth=createClient',
    'a = 1//0 and http://x/1//0abc and 1//012345678901234567890123456789',
    'eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d and eyJhbGciOiJSU0EtT0FFUCJ9.some.name.of.a.module',
    'glwt-, glrtr-runner, GR1348941, xoxc-token, glpat-abc.01.x, ABSK and ABSKILLED',
    'PuTTY-User-Key-File-3 and a PGP PUBLIC KEY BLOCK',
  ])('leaves alone: %s', (text) => {
    expect(findSecrets(text)).toEqual([]);
  });

  it.each(MORE)('[A14-5] knows %s: %s', (name, key) => {
    expect(listSecrets(`The key is (${key}).`)).toEqual([{ name, value: key }]);
    expect(maskSecrets(`"${key}" and "${key}".`)).toBe('"[redacted]" and "[redacted]".');
  });

  it.each(NAMED)('[A14-5] knows %s by its name: %s', (name, before, value, after) => {
    expect(listSecrets(`${before}${value}${after}`)).toEqual([{ name, value }]);
    expect(maskSecrets(`x ${before}${value}${after}`)).toBe(`x ${before}[redacted]${after}`);
  });

  it.each(HIDDEN)('[A14-6] finds %s behind letters, figures and lines: %s', (name, key) => {
    for (const before of ['PRE_', 'abc', 'x', '9', '_', 'é']) {
      expect(findSecrets(`${before}${key}`)).toEqual([name]);
      expect(maskSecrets(`${before}${key} end`)).toMatch(/^.{0,4}\[redacted\] end$/);
    }
  });

  it('[A14-5] takes PGP and PuTTY keys out of lines that come one after the other', () => {
    const [begin, end] = ['BEGIN', 'END'].map((word) => `-----${word} PGP ${'PRIVATE'} KEY BLOCK-----`);
    const pgp = [begin, 'Version: GnuPG v2.0 (GNU/Linux)', '', 'lQdGBF+/', '=aB1c', end].map(String);
    expect([...pgp, 'after'].map(createLineMask())).toEqual([...pgp.map(() => '[redacted]'), 'after']);
    const putty = ['Private-Lines: 1', a1B2(64), `Private-MAC: ${'0a'.repeat(20)}`, 'after'];
    expect(putty.map(createLineMask())).toEqual([putty[0], '[redacted]', '[redacted]', 'after']);
  });

  it('does not take long over a text that is made to', () => {
    for (const part of [
      'sk-',
      'gh',
      'xoxb-',
      '-----BEGIN A ',
      'AIza',
      'a-',
      'eyJ',
      'eyJ.',
      'https://a:b',
      'Bearer ',
      'authorization: token ',
      'secret_access_key=',
      'Private-Lines: 1 ',
      `-----BEGIN ${'PRIVATE'} KEY-----`,
    ]) {
      const text = part.repeat(20_000);
      expect(findSecrets(text).length).toBeLessThan(2);
      expect(maskSecrets(text).length).toBeLessThanOrEqual(text.length);
    }
  });

  it.each(KEYS)('takes the whole of %s out of a text', (_, key) => {
    const more = key.includes('BEGIN')
      ? `${key}\nMIIE+/=\nProc-Type: 4\n-----END ${'PRIVATE'} KEY-----`
      : key;
    expect(maskSecrets(`(${more}) and "${more}".`)).toBe('([redacted]) and "[redacted]".');
    expect(listSecrets(`(${more}) ${more}`).map(({ value }) => value)).toEqual([more, more]);
  });

  it('takes a private key out of lines that come one after the other, and out of JSON', () => {
    const mask = createLineMask();
    const [begin, end] = ['BEGIN', 'END'].map((word) => `-----${word} RSA ${'PRIVATE'} KEY-----`);
    const lines = [
      'before',
      `x ${begin}`,
      'Proc-Type: 4,ENCRYPTED',
      '',
      'MIIEpAIBAAKCAQEA7',
      `  ${end}`,
      'MIIE',
    ];
    expect(lines.map(mask)).toEqual([
      'before',
      'x [redacted]',
      ...Array.from({ length: 4 }, () => '[redacted]'),
      'MIIE',
    ]);
    // A text that only speaks of one is shown on.
    expect([`grep ${begin} *`, 'nothing (0 files)'].map(createLineMask())[1]).toBe('nothing (0 files)');
    expect(maskSecrets(JSON.stringify({ key: `${begin}\nMIIE\n${end}\n` }))).toBe('{"key":"[redacted]\\n"}');
  });
});

describe('a line that begins as keys do', () => {
  it('costs no copy of a pattern where none of them matches', () => {
    const copies = vi.spyOn(String.prototype, 'matchAll');
    try {
      listSecrets('ghp_a1B2');
      const alike = copies.mock.calls.length;
      listSecrets('hello world');
      // What is copied for any line at all.
      expect(alike).toBe(copies.mock.calls.length - alike);
    } finally {
      copies.mockRestore();
    }
    expect(listSecrets('ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8')).toHaveLength(1);
  });
});
