import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { openTokenAccess, readTokenUses } from './access-port.ts';
import {
  createToken,
  ensureServerToken,
  listTokenFaults,
  listTokens,
  revokeToken,
  rotateToken,
  tokensVersion,
} from './access-tokens.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const clock = { now: () => NOW };
const wish = { scope: 'task', user: 'ann', now: NOW } as const;

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

describe('access tokens', () => {
  it('are 256 random bits that are kept nowhere', async () => {
    await using folder = await tempFolder();
    const home = join(folder.path, 'home');
    const made = await createToken(home, { ...wish, name: 'laptop' });
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{12}$/),
      name: 'laptop',
      scope: 'task',
      user: 'ann',
      created_at: '2026-02-10T09:00:00.000Z',
      token: expect.stringMatching(/^fgt_[\w-]{43}$/),
    });
    const agent = await createToken(home, { ...wish, agent: 'worker-1' });
    expect(agent).toMatchObject({ name: 'worker-1', agent: 'worker-1' });
    expect(agent).not.toHaveProperty('user');
    expect(agent.token).not.toBe(made.token);
    expect(listTokens(home).map(({ id }) => id)).toEqual([made.id, agent.id]);
    for (const file of readdirSync(home)) {
      const text = readFileSync(join(home, file), 'utf8');
      expect(text).not.toContain(made.token);
      expect(text).not.toContain(made.token.slice(4));
    }
  });

  it('[L8] end at their time, and a new one in their place is good as long as they were', async () => {
    await using folder = await tempFolder();
    let now = NOW;
    const access = openTokenAccess(folder.path, { now: () => now });
    const made = await createToken(folder.path, { ...wish, lasts_ms: 60_000, projects: ['fg'] });
    const caller = access.findCaller(made.token);
    expect(caller).toMatchObject({ projects: ['fg'] });
    now = NOW + 59_999;
    expect(access.findCaller(made.token)).toEqual(caller);
    now = NOW + 60_000;
    expect(access.findCaller(made.token)).toBeUndefined();
    expect(caller && access.isAlive(caller)).toBe(false);
    const next = await rotateToken(folder.path, made.id, now);
    expect(next).toMatchObject({ projects: ['fg'], expires_at: '2026-02-10T09:02:00.000Z' });
    expect(access.findCaller(next.token)).toMatchObject({ projects: ['fg'] });
  });

  it('[L8] a line with a strange end or strange projects is no token', async () => {
    await using folder = await tempFolder();
    await createToken(folder.path, wish);
    const line = readFileSync(join(folder.path, 'tokens.jsonl'), 'utf8').trim();
    for (const more of ['"expires_at":"soon"', '"expires_at":5', '"projects":"fg"', '"projects":[1]']) {
      await folder.write('tokens.jsonl', `${line.replace('{', `{${more},`)}\n`);
      expect(listTokens(folder.path)).toEqual([]);
      expect(listTokenFaults(folder.path)).toMatchObject([
        { code: 'invalid_input', message: expect.stringContaining('line 1, is no token') as string },
      ]);
    }
  });

  it('that can be read are good beside a line that cannot, which is told, kept, and lets nobody in', async () => {
    await using folder = await tempFolder();
    const lost = await createToken(folder.path, { ...wish, scope: 'admin' });
    const good = await createToken(folder.path, wish);
    const file = join(folder.path, 'tokens.jsonl');
    const [first = '', second = ''] = readFileSync(file, 'utf8').split('\n');
    for (const broken of [
      first.slice(0, -10),
      first.replace('"admin"', '"root"'),
      '<<<<<<< HEAD',
      '[]',
      '7',
    ]) {
      await folder.write('tokens.jsonl', `${broken}\n${second}\n`);
      const told: string[] = [];
      const access = openTokenAccess(folder.path, clock, (line) => told.push(line));
      expect(access.findCaller(lost.token)).toBeUndefined();
      const caller = access.findCaller(good.token);
      expect(caller).toMatchObject({ token: good.id, scope: 'task' });
      expect(caller && access.isAlive(caller)).toBe(true);
      // Once for each version of the file.
      expect(told).toEqual([`${file}, line 1, is no token: it lets nobody in`]);
      // What is changed beside it leaves it as it is.
      const made = await createToken(folder.path, wish);
      await revokeToken(folder.path, made.id, NOW);
      expect(readFileSync(file, 'utf8').split('\n')[0]).toBe(broken);
    }
  });

  it('with two lines of their own have the lesser of their rights, and none where one is revoked', async () => {
    await using folder = await tempFolder();
    const made = await createToken(folder.path, { ...wish, scope: 'admin' });
    const line = readFileSync(join(folder.path, 'tokens.jsonl'), 'utf8').trim();
    const access = openTokenAccess(folder.path, clock);
    const write = (...lines: string[]): Promise<void> =>
      folder.write('tokens.jsonl', `<<<<<<< ours\n${lines.join('\n=======\n')}\n>>>>>>> theirs\n`);
    const lesser = line.replace('"admin"', '"read"');
    for (const lines of [
      [line, lesser],
      [lesser, line],
    ]) {
      await write(...lines);
      expect(access.findCaller(made.token)).toMatchObject({ scope: 'read' });
    }
    const revoked = line.replace('{', '{"revoked_at":"2026-02-10T09:00:00.000Z",');
    for (const lines of [
      [line, revoked],
      [revoked, line],
    ]) {
      await write(...lines);
      expect(access.findCaller(made.token)).toBeUndefined();
    }
  });

  it('[A17] lie in files for their owner alone, whatever the umask', async () => {
    await using folder = await tempFolder();
    const home = join(folder.path, 'home');
    const before = process.umask(0);
    try {
      await createToken(home, wish);
      const { path } = await ensureServerToken(home, { user: 'ann', now: NOW });
      openTokenAccess(home, clock).findCaller(readFileSync(path, 'utf8').trim());
      await expect.poll(() => readTokenUses(home).size).toBe(1);
    } finally {
      process.umask(before);
    }
    expect(modeOf(home)).toBe(0o700);
    expect(Object.fromEntries(readdirSync(home).map((file) => [file, modeOf(join(home, file))]))).toEqual({
      'tokens.jsonl': 0o600,
      'server-token': 0o600,
      'token-uses.json': 0o600,
    });
    // One that somebody opened up is closed by the next change.
    chmodSync(join(home, 'tokens.jsonl'), 0o644);
    await createToken(home, wish);
    expect(modeOf(join(home, 'tokens.jsonl'))).toBe(0o600);
  });

  it('speak for whom they were made, with the rights they were made with', async () => {
    await using folder = await tempFolder();
    const home = folder.path;
    const access = openTokenAccess(home, clock);
    const mine = await createToken(home, { ...wish, scope: 'admin' });
    const agent = await createToken(home, { ...wish, agent: 'worker-1' });
    expect(access.findCaller(mine.token)).toEqual({
      actor: { kind: 'user', name: 'ann', named: true },
      scope: 'admin',
      token: mine.id,
    });
    expect(access.findCaller(agent.token)).toEqual({
      actor: { kind: 'agent', name: 'worker-1', named: true },
      scope: 'task',
      token: agent.id,
    });
    for (const text of ['', 'fgt_', mine.id, `${mine.token} `, mine.token.slice(0, -1), `${mine.token}x`])
      expect(access.findCaller(text)).toBeUndefined();
  });

  it.each(['exec', 'admin'] as const)('of an agent are never %s', async (scope) => {
    await using folder = await tempFolder();
    await expect(async () =>
      createToken(folder.path, { ...wish, scope, agent: 'worker-1' }),
    ).rejects.toMatchObject({
      code: 'invalid_input',
      hint: 'forge token create --agent worker-1 --scope task',
    });
    expect(listTokens(folder.path)).toEqual([]);
  });

  it('[A9] end at once in every process when they are rotated or revoked', async () => {
    await using folder = await tempFolder();
    const home = folder.path;
    const old = await createToken(home, { ...wish, name: 'laptop' });
    // What another process holds open.
    const access = openTokenAccess(home, clock);
    const caller = access.findCaller(old.token);
    expect(caller).toBeDefined();
    const before = tokensVersion(home);
    const next = await rotateToken(home, old.id, NOW + 1);
    expect(tokensVersion(home)).not.toBe(before);
    expect(next).toMatchObject({ name: 'laptop', scope: 'task', user: 'ann' });
    expect(next.id).not.toBe(old.id);
    expect(access.findCaller(old.token)).toBeUndefined();
    expect(caller !== undefined && access.isAlive(caller)).toBe(false);
    const newer = access.findCaller(next.token);
    expect(newer !== undefined && access.isAlive(newer)).toBe(true);
    expect(await revokeToken(home, next.id, NOW + 2)).toMatchObject({ id: next.id });
    expect(access.findCaller(next.token)).toBeUndefined();
    expect(listTokens(home).map(({ revoked_at }) => revoked_at)).toEqual([
      '2026-02-10T09:00:00.001Z',
      '2026-02-10T09:00:00.002Z',
    ]);
    await expect(revokeToken(home, next.id, NOW)).rejects.toMatchObject({ code: 'state_invalid' });
    await expect(rotateToken(home, 'nobody', NOW)).rejects.toMatchObject({
      code: 'not_found',
      hint: 'forge token list',
    });
  });

  it('keep keys that others wrote, and several changes at once', async () => {
    await using folder = await tempFolder();
    const home = folder.path;
    const made = await createToken(home, wish);
    const [line = ''] = (await folder.read('tokens.jsonl')).split('\n');
    await folder.write('tokens.jsonl', `${line.slice(0, -1)},"note":"mine"}\n`);
    await Promise.all(Array.from({ length: 8 }, () => createToken(home, wish)));
    await revokeToken(home, made.id, NOW);
    const lines = (await folder.read('tokens.jsonl')).trimEnd().split('\n');
    expect(lines).toHaveLength(9);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      note: 'mine',
      revoked_at: '2026-02-10T09:00:00.000Z',
    });
  });

  it.each([
    ['no JSON', '{'],
    ['no scope', '{"id":"a","name":"a","user":"ann","created_at":"then","hash":"00"}'],
    [
      'a scope of its own',
      `{"id":"a","name":"a","scope":"root","user":"ann","created_at":"then","hash":"${'0'.repeat(64)}"}`,
    ],
    [
      'two owners',
      `{"id":"a","name":"a","scope":"read","user":"ann","agent":"w","created_at":"then","hash":"${'0'.repeat(64)}"}`,
    ],
    ['a short hash', '{"id":"a","name":"a","scope":"read","user":"ann","created_at":"then","hash":"00"}'],
  ])('a line with %s is none, and takes nothing from the others', async (_name, line) => {
    await using folder = await tempFolder();
    const made = await createToken(folder.path, wish);
    const access = openTokenAccess(folder.path, clock);
    expect(access.findCaller(made.token)).toBeDefined();
    const sound = await folder.read('tokens.jsonl');
    await folder.write('tokens.jsonl', `${sound}${line}\n`);
    expect(access.findCaller(made.token)).toBeDefined();
    expect(listTokens(folder.path)).toMatchObject([{ id: made.id }]);
    expect(listTokenFaults(folder.path)).toMatchObject([{ code: 'invalid_input', details: { line: 2 } }]);
    await folder.write('tokens.jsonl', sound);
    expect(listTokenFaults(folder.path)).toEqual([]);
  });

  it('remember when they were used, to the minute', async () => {
    await using folder = await tempFolder();
    const made = await createToken(folder.path, wish);
    let now = NOW;
    const access = openTokenAccess(folder.path, { now: () => now });
    access.findCaller(made.token);
    await expect.poll(() => readTokenUses(folder.path).get(made.id)).toBe('2026-02-10T09:00:00.000Z');
    now += 60_000;
    access.findCaller(made.token);
    await expect.poll(() => readTokenUses(folder.path).get(made.id)).toBe('2026-02-10T09:01:00.000Z');
  });
});

describe('very many lines that are no tokens', () => {
  it('are named up to twenty and counted beyond, and take nothing from those that are', async () => {
    await using folder = await tempFolder();
    const made = await createToken(folder.path, { scope: 'read', user: 'ann', now: NOW });
    const path = join(folder.path, 'tokens.jsonl');
    const bad = ['nonsense', '{}', '{"id":', '[1]', '{"id":"x","hash":"y"}', '{bad}'];
    writeFileSync(path, `${readFileSync(path, 'utf8')}${`${bad.join('\n')}\n`.repeat(1_000)}`);
    const told: string[] = [];
    const access = openTokenAccess(folder.path, clock, (line) => told.push(line));
    for (let at = 0; at < 3; at += 1) expect(access.findCaller(made.token)).toMatchObject({ scope: 'read' });
    expect(told).toHaveLength(21);
    expect(told[0]).toContain('line 2, is no token');
    expect(told[20]).toBe(`${path} has 5980 more lines that are no tokens`);
    expect(listTokenFaults(folder.path)).toHaveLength(21);
  });
});

describe("the server's own token", () => {
  it('is made once, and again when it is not good any more', async () => {
    await using folder = await tempFolder();
    const home = join(folder.path, 'home');
    const access = openTokenAccess(home, clock);
    const first = await ensureServerToken(home, { user: 'ann', now: NOW });
    expect(first.path).toBe(join(home, 'server-token'));
    expect(readFileSync(first.path, 'utf8')).toBe(`${first.token}\n`);
    expect(access.findCaller(first.token)).toMatchObject({
      scope: 'admin',
      actor: { kind: 'user', name: 'ann' },
    });
    expect((await ensureServerToken(home, { user: 'ann', now: NOW })).token).toBe(first.token);
    const [{ id } = { id: '' }] = listTokens(home);
    const next = await rotateToken(home, id, NOW);
    expect(readFileSync(first.path, 'utf8')).toBe(`${next.token}\n`);
    expect((await ensureServerToken(home, { user: 'ann', now: NOW })).token).toBe(next.token);
    await revokeToken(home, next.id, NOW);
    expect(() => statSync(first.path)).toThrow('ENOENT');
    const third = await ensureServerToken(home, { user: 'ann', now: NOW });
    expect(access.findCaller(third.token)).toMatchObject({ scope: 'admin' });
  });
});
