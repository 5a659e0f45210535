import { describe, expect, it } from 'vitest';
import { createLineMask, listSecrets, maskSecrets } from './find-secrets.ts';

const LONG = 'a1B2'.repeat(60);

/** What stands before the password, and what stands behind it. */
const SCHEMES = [
  'socks5',
  's3',
  'postgres',
  'git+https',
  'h2',
  'mongodb+srv',
  'svn+ssh',
  'amqps',
  'x-my.app',
];
const PASSWORDS = [
  'hunter2pass99',
  '%40realSecr3t99',
  'ab%2FrealSecr3t99',
  'pa:ssw0rd123',
  'hunt@er2xyz99',
  'a@b@c9xyz',
  "it'sAsecr3t99",
  'ab/realSecr3t99',
  'ab/real/Secr3t99',
  '$ecr3tPassw0rd',
  '$2b$10$abcdefgh',
  '12345678',
  'mysuperlongpassphrase',
  'correcthorsebatterystaple',
  'p4ss!wörd',
  '{half9open',
  '*star9red',
  LONG,
];

const AROUND = [
  ['postgres://u:', '@db/x'],
  ["url='https://u_b-c:", "@db.example.com:5432/a@b'"],
  ['{"url":"redis://:', '@db"}'],
] as const;

describe('a password in an address', () => {
  it.each(SCHEMES)('is found behind %s://', (scheme) => {
    expect(maskSecrets(`${scheme}://user:hunter2pass99@host:1080/x`)).toBe(
      `${scheme}://user:[redacted]@host:1080/x`,
    );
  });

  it.each(PASSWORDS)('is found: %s', (value) => {
    for (const [before, after] of AROUND) {
      const line = `${before}${value}${after}`;
      expect(listSecrets(line)).toContainEqual({ name: 'a password in an address', value });
      for (const mask of [maskSecrets, createLineMask()])
        expect(mask(line)).toBe(`${before}[redacted]${after}`);
    }
  });

  it.each([
    'http://localhost:3000/a@b http://localhost:4873/@scope/name http://h:80/x?y=a@b',
    'https://packages.example.com/@types/node/-/node-24.tgz',
    'https://example.com:8443/path:with:colons@1.2.3',
    'ssh://git@github.com:22/a/b.git and ssh://github.com:owner/repo@v1',
    'https://user:password@host https://user:$PASSWORD@host https://user:${PASSWORD}@host https://u:$(cat x)@host',
    'https://u:$password@host https://u:%PASSWORD%@host https://u:%s@host https://u:{{password}}@host https://u:***@h',
    'https://u:[redacted]@host and https://u:my-password@host and https://u:YOUR_PASSWORD@host',
    'docker://alpine:3.18@sha256:0123456789abcdef and docker://registry:5000/a@sha256:0123456789abcdef',
    'file://C:/Users/a@b and webpack://app/./src/a.ts:10 and a://b',
    'fn@http://localhost:3000/x.js:10:5 g@http://localhost:3000/y.js:1:2',
    "['http://a:b', 'c@d.e'] and ['http://a:bcd','c@d.e'] and <http://a:bcde> f@g",
    'jdbc:mysql://db:3306/x?user=a@b and http://[::1]:8080/@x',
    'http://a:80, b@c.d; see http://host:8080.',
  ])('is not seen in %s', (text) => {
    expect(listSecrets(text)).toEqual([]);
    expect(maskSecrets(text)).toBe(text);
  });

  it('takes no longer than the length of a text says', () => {
    for (const part of ['a://b:', 'a://b:c/', "a://b:c'd", 'a://b:@', 'a://b:c@d/', 'a://b:$a', 'a://b:1/'])
      expect(maskSecrets(part.repeat(30_000)).length).toBeLessThanOrEqual(part.length * 30_000 + 400_000);
  });
});
