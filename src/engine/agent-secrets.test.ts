import { describe, expect, it } from 'vitest';
import type { Run } from '#contract/attempt.ts';
import { noteGivenValues } from '#sync/given-values.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { createSecrets, findSecretsOf } from './agent-secrets.ts';
import type { ManagedAgent } from './work.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const env = {
  ANTHROPIC_API_KEY: 'sk-ant-0123456789',
  ANTHROPIC_MODEL: 'claude-opus-large',
  OPENAI_API_KEY: 'sk-oai-0123456789',
  GIT_AUTHOR_NAME: 'Ada Lovelace',
};
const toAgent = (name: string, value: string): ManagedAgent => ({
  name,
  profile: { executor: 'claude', permissions: 'all' },
  env: { ANYTHING: value },
});
const all = [toAgent('ada', 'given-to-ada'), toAgent('bob', 'given-to-bob'), toAgent('eve', 'given-to-eve')];
const agents = { list: () => all };
const store = { listRuns: async () => [{ agent: 'bob' }] as unknown as Run[] };
const clock = { now: () => NOW };
const home = '/none/such';

describe('what no process of an attempt may tell', () => {
  it('[H2] is what was given to the agents of the task, and the keys of all providers', async () => {
    const { redact } = await findSecretsOf(
      { env, agents, store, home, clock },
      { task_id: 'fg-1', agent: 'ada' },
    );
    const said = `given-to-ada given-to-bob ${env.ANTHROPIC_API_KEY} ${env.OPENAI_API_KEY}`;
    expect(redact(said)).toBe('[redacted] [redacted] [redacted] [redacted]');
    // No setting, and nothing of an agent that has never been there.
    const open = `given-to-eve ${env.ANTHROPIC_MODEL} ${env.GIT_AUTHOR_NAME}`;
    expect(redact(open)).toBe(open);
  });

  it.each([
    ['ANTHROPIC_CUSTOM_HEADERS', 'X-Pass: gateway-secret-1\nAuthorization: Bearer gateway-secret-2\r\n', 2],
    ['CLAUDE_EXPORT_HEADERS', 'x-pass=gateway-secret-1,x-more=gateway-secret-2', 2],
    [
      'OPENCODE_CONFIG_CONTENT',
      '{"p":{"options":{"apiKey":"gateway-secret-1","model":"claude-opus-large"}}}',
      1,
    ],
    [
      'OPENCODE_CONFIG_CONTENT',
      '{"options":{"headers":{"x-pass":"gateway-secret-1"}},"a":{"token":["gateway-secret-2"]}}',
      2,
    ],
    ['OPENCODE_CONFIG_CONTENT', '{"apiKey": "gateway-secret-1", // mine\n}', 1],
    ['OPENAI_BASE_URL', 'https://me:gateway-secret-1@gateway.example.org/v1?api_key=gateway-secret-2', 2],
  ])('is also what stands in a setting where keys stand: %s %s', async (name, value, count) => {
    const { redact } = await findSecretsOf(
      { env: { [name]: value }, agents, store, home, clock },
      { task_id: 'fg-1', agent: 'ada' },
    );
    for (let at = 1; at <= count; at += 1)
      expect(redact(`said gateway-secret-${at}`)).toBe('said [redacted]');
    const open = 'claude-opus-large at https://gateway.example.org/v1 as application/json';
    expect(redact(open)).toBe(open);
  });

  it('are no settings: models, folders, addresses and plain headers', async () => {
    const settings = {
      ANTHROPIC_MODEL: 'claude-opus-large',
      ANTHROPIC_BASE_URL: 'https://gateway.example.org/v1',
      ANTHROPIC_CUSTOM_HEADERS: 'Content-Type: application/json\nAccept: text/event-stream',
      CLAUDE_CONFIG_DIR: '/home/ada/.claude',
      OPENCODE_CONFIG_CONTENT: '{"model":"claude-opus-large","theme":"solarized-dark"}',
    };
    const place = { env: settings, agents: { list: () => [] }, store, home, clock };
    const { redact } = await findSecretsOf(place, { task_id: 'fg-1', agent: null });
    const said = [...Object.values(settings), 'application/json', 'solarized-dark'].join(' and ');
    expect(redact(said)).toBe(said);
  });

  it('[S17] is also what they were given before, when an agent or a value of it is gone', async () => {
    await using folder = await tempFolder();
    const place = { env: {}, agents: { list: () => [] }, store, clock };
    for (const [agent, value] of [
      ['bob', 'bobs-first-value'],
      ['bob', 'bobs-other-value'],
      ['eve', 'eves-own-value'],
    ] as const)
      await noteGivenValues(folder.path, { agent, env: { ANYTHING: value }, now: NOW });
    const about = { task_id: 'fg-1', agent: 'ada' };
    const { redact } = await findSecretsOf({ ...place, home: folder.path }, about);
    expect(redact('bobs-first-value bobs-other-value eves-own-value')).toBe(
      '[redacted] [redacted] eves-own-value',
    );
  });

  it('[S17] is also what is learned later', () => {
    const secrets = createSecrets(['correct-horse-battery']);
    const line = secrets.openLines();
    secrets.learn(['learned-later-on']);
    const said = 'correct-horse-battery learned-later-on';
    expect(secrets.redact(said)).toBe('[redacted] [redacted]');
    expect(line({ text: said, cut: false })).toBe('[redacted] [redacted]');
  });

  const SAID = 'correct-horse-battery';
  const bytes = (text: string): string[] => Buffer.from(text).toString('hex').match(/../g) ?? [];
  const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64');
  const wide = (text: string): Buffer => Buffer.from(text, 'utf16le');
  it.each([
    ['base64 of base64', base64(base64(SAID))],
    ['base64 of UTF-16', base64(wide(SAID))],
    ['base64 of UTF-16, big end first', base64(wide(SAID).swap16())],
    ['hex of UTF-16', wide(SAID).toString('hex')],
    ['base64 of codes of a terminal', base64(SAID.split('-').join('-\u001b(B'))],
    ['bytes with colons', bytes(SAID).join(':')],
    ['bytes with dashes', bytes(SAID).join('-')],
    ['bytes in a list', bytes(SAID).join(', 0x').replace(/^/, '0x')],
    ['what tput prints', SAID.split('-').join('-\u001b(B\u001b[m')],
    ['one character of CSI', SAID.split('-').join('-\u009b31m')],
    ['ESC alone', SAID.split('').join('\u001b')],
    ['shifts', SAID.split('').join('\u000f')],
    ['tags', SAID.split('').join('\u{e0061}')],
    ['selectors', SAID.split('').join('\ufe0f')],
    ['HTML', SAID.replaceAll('-', '&hyphen;').replace('c', '&#X000063;')],
    ['braces', SAID.replaceAll('-', '\\u{2d}')],
    ['escapes of mails', SAID.replaceAll('-', '=2D')],
    ['HTML without an end', SAID.replaceAll('-', '&#45')],
    ['escapes of CSS', SAID.replaceAll('-', '\\2d ')],
    ['letters that are overwritten', SAID.split('-').join('-!\u001b[0m\b')],
    ['a cursor that goes back', SAID.split('-').join('-!!\u001b[2D')],
    [
      'bytes in groups',
      (
        bytes(SAID)
          .join('')
          .match(/.{1,6}/g) ?? []
      ).join(' '),
    ],
    ['escapes of eight digits', SAID.replaceAll('-', '\\U0000002d')],
  ])('[A14-4] take a given value out that is hidden in %s', (_, hidden) => {
    const { redact: mask, openLines: open } = createSecrets([SAID]);
    for (const shown of [mask(`see ${hidden} end`), open()({ text: `see ${hidden} end`, cut: false })])
      expect(shown).toMatch(/^see \[redacted\]=* end$/);
  });

  it.each([8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20])(
    'take a given value of %s characters out that is in base64 twice',
    (length) => {
      const value = 'aB3!xY9z?Qw7-kLm5+Pt2'.slice(0, length);
      const { redact: mask, openLines: open } = createSecrets([value]);
      for (const inner of [
        base64(value),
        base64(`${value}\n`),
        base64(`user:${value}`),
        base64(`x:${value}`),
      ])
        for (const twice of [base64(inner), base64(`${inner}\n`)]) {
          const shown = [mask(`see ${twice} end`), open()({ text: `see ${twice} end`, cut: false })];
          // Of the letters that are also of what stands beside the value some are left.
          for (const one of shown)
            expect(one).toMatch(/^see [A-Za-z0-9+/=]{0,12}\[redacted\][A-Za-z0-9+/=]{0,12} end$/);
        }
    },
  );

  const { redact, redactValue, openLines } = createSecrets(['correct-horse-battery']);
  const token = `ghp_${'a1B2'.repeat(9)}`;

  it('[H2] is looked for in all of an answer', () => {
    const answer = { [token]: [{ text: 'xcorrect-horse-battery', count: 1 }] };
    expect(redactValue(answer)).toEqual({ '[redacted]': [{ text: 'x[redacted]', count: 1 }] });
  });

  it('[H5] is also what only looks like a key', () => {
    expect(redact(`push to https://${token}@host`)).toBe('push to https://[redacted]@host');
  });

  it('[H5] is left out where a line is cut in the middle of it', () => {
    const line = openLines();
    expect(line({ text: 'see correct-horse', cut: true })).toBe('see ');
    // Nothing is left over for the next one.
    expect(line({ text: '-battery', cut: false })).toBe('-battery');
  });
});
