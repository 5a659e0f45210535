import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { followEvents } from '../support/event-client.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { serveForAll, type Served } from '../support/serve-for-all.ts';
import { noteLongestBlock } from '../support/loop-blocks.ts';

interface NewToken {
  readonly id: string;
  readonly token: string;
  readonly scope: string;
  readonly agent: string | null;
  readonly user: string | null;
}

describe('forge token', () => {
  test('makes tokens that are shown once, lists, rotates and revokes them', async () => {
    await using project = await forgeProjectHere();
    const made = await project.json<NewToken>('token', 'create', '--scope', 'task', '--agent', 'worker-1');
    expect(made).toMatchObject({ scope: 'task', agent: 'worker-1', user: null });
    expect(made.token).toMatch(/^fgt_[\w-]{43}$/);
    const own = await project.json<NewToken>('token', 'create', '--scope', 'admin', '--name', 'laptop');
    expect(own).toMatchObject({ name: 'laptop', user: 'Test User', agent: null });
    const short = await project.json<NewToken>('agent', 'token', 'worker-2');
    expect(short).toMatchObject({ scope: 'task', agent: 'worker-2' });
    const listed = await project.text('token', 'list');
    // Those of agents end by themselves.
    expect(listed.match(/[ \t](?:valid|until [-\d]+)$/gm)?.map((state) => state.trim().slice(0, 5))).toEqual([
      'until',
      'valid',
      'until',
    ]);
    for (const { token, id } of [made, own, short]) {
      expect(listed).toContain(id);
      expect(listed).not.toContain(token);
    }
    const next = await project.json<NewToken>('token', 'rotate', made.id);
    expect(next).toMatchObject({ scope: 'task', agent: 'worker-1' });
    expect(next.token).not.toBe(made.token);
    expect(await project.text('token', 'revoke', next.id)).toBe(`Revoked token ${next.id} of agent worker-1`);
    expect(await project.json<unknown[]>('token', 'list')).toHaveLength(2);
    expect(await project.json<unknown[]>('token', 'list', '--all')).toHaveLength(4);
    const text = await project.text('token', 'create', '--scope', 'read');
    expect(text).toMatch(
      /^fgt_[\w-]{43}\nToken [0-9a-f]{12} for user Test User, scope read\. It is not shown again/,
    );
  });

  test('says what is wrong, and what to type instead', async () => {
    await using project = await forgeProjectHere();
    const cases: [string[], string, number][] = [
      [['token', 'create'], 'usage', 2],
      [['token', 'create', '--scope', 'root'], 'invalid_input', 2],
      [['token', 'create', '--scope', 'admin', '--agent', 'worker-1'], 'invalid_input', 2],
      [['token', 'create', '--scope', 'read', '--expires', '0h'], 'invalid_input', 2],
      [['agent', 'token', 'worker-1', '--expires', '000d'], 'invalid_input', 2],
      [['token', 'revoke', 'nope'], 'not_found', 3],
      [['token', 'rotate', 'nope'], 'not_found', 3],
    ];
    for (const [args, code, exit] of cases) {
      const failure = await project.fails(...args);
      expect([args, failure.error.code, failure.exit]).toEqual([args, code, exit]);
    }
    const { id } = await project.json<NewToken>('token', 'create', '--scope', 'read');
    await project.text('token', 'revoke', id);
    expect((await project.fails('token', 'revoke', id)).error.code).toBe('state_invalid');
  });
});

describe('a server', () => {
  let project: Served['project'];
  let server: Served['server'];
  serveForAll((served) => ({ project, server } = served));

  test('[A9] follows at once, and its streams end', async () => {
    const made = await project.json<NewToken>('token', 'create', '--scope', 'read');
    const ask = async (token: string): Promise<number> =>
      (await fetch(`${server.url}/api/v1/tasks`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await ask(made.token)).toBe(200);
    using events = await followEvents(`${server.url}/api/v1/events`, { token: made.token });
    expect(events.status).toBe(200);
    const next = await project.program.json<NewToken>('token', 'rotate', made.id);
    expect([await ask(made.token), await ask(next.token)]).toEqual([401, 200]);
    await events.ended;
    await project.text('token', 'revoke', next.id);
    expect(await ask(next.token)).toBe(401);
    const used = await project.json<{ id: string; last_used_at: string | null }[]>('token', 'list', '--all');
    expect(used.find(({ id }) => id === made.id)?.last_used_at).toMatch(/^\d{4}-/);
  });

  test.each(['revoke', 'rotate'])('[A9] %s ends a wait that is under way', async (verb) => {
    const { id } = await project.create('Never closed');
    const { token, id: tokenId } = await project.json<NewToken>('token', 'create', '--scope', 'read');
    const path = `/api/v1/tasks/${id}/wait?timeout_seconds=3600`;
    const wait = (bearer: string) => server.ask(path, { token: bearer });
    const byName = server.ask('/api/v1/operations/task.wait', {
      token,
      body: { id, timeout_seconds: 3_600 },
    });
    const waits = Promise.all([wait(token), byName]);
    const neighbour = await project.json<NewToken>('token', 'create', '--scope', 'read');
    const other = wait(neighbour.token);
    // Both are there when both tokens have been used.
    const used = async (): Promise<number> => {
      const tokens = await project.json<{ id: string; last_used_at: string | null }[]>('token', 'list');
      const both = tokens.filter(({ id }) => [tokenId, neighbour.id].includes(id));
      return both.filter(({ last_used_at }) => last_used_at !== null).length;
    };
    await expect.poll(used, { timeout: 20_000 }).toBe(2);
    await project.program.run('token', verb, tokenId);
    for (const { status, body } of await waits)
      expect([status, body]).toMatchObject([401, { code: 'unauthorized' }]);
    // That of somebody else goes on to its own end.
    await project.text('task', 'close', id, '--reason', 'done');
    expect((await other).body).toMatchObject({ id, status: 'closed' });
    expect(server.told()).toBe('');
  });

  // Where a process's command line can be read.
  test.runIf(process.platform === 'linux')(
    '[A17] no token stands in a command line, an address, a log or a file that others can read',
    async () => {
      const made = await project.json<NewToken>('token', 'create', '--scope', 'admin');
      await server.ask('/api/v1/tasks', { body: { title: 'something to log' } });
      const secrets = [server.token, made.token];
      const argv = readFileSync(`/proc/${server.pid}/cmdline`, 'utf8');
      for (const secret of secrets) {
        expect(argv).not.toContain(secret);
        expect(server.told()).not.toContain(secret);
      }
      const home = join(server.token_file, '..');
      expect(statSync(home).mode & 0o077).toBe(0);
      const files = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) =>
        statSync(join(home, name)).isFile(),
      );
      const open = files.filter(
        (name) => /token/.test(name) && (statSync(join(home, name)).mode & 0o077) !== 0,
      );
      expect(open).toEqual([]);
      const telling = files.filter((name) => {
        const text = readFileSync(join(home, name), 'latin1');
        return secrets.some((secret) => text.includes(secret));
      });
      expect(telling).toEqual(['server-token']);
      for (const name of readdirSync(join(project.path, '.git', 'forge')))
        for (const secret of secrets)
          expect(readFileSync(join(project.path, '.git', 'forge', name), 'latin1').includes(secret)).toBe(
            false,
          );
    },
  );
});

noteLongestBlock(import.meta.filename);
