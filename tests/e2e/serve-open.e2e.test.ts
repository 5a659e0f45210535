import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ForgeProject, forgeProject } from '../support/forge-cli.ts';
import { type ForgeServer, startForgeServer } from '../support/forge-server.ts';
import { noteLongestBlock } from '../support/loop-blocks.ts';

// The program that opens links has another name elsewhere, and only this one can be planted.
describe.runIf(process.platform === 'linux')('forge serve --open', () => {
  test('hands a link to the browser that logs in once', async () => {
    await using project = await forgeProject();
    const opened = plantOpener(project, 'exit 0');
    await using server = await startForgeServer(project, ['--port', '0', '--open']);
    const link = await readLink(opened, server);
    const first = await fetch(link, { redirect: 'manual' });
    expect([first.status, first.headers.get('location')]).toEqual([303, '/']);
    const [cookie = ''] = first.headers.getSetCookie();
    expect(cookie).toMatch(/HttpOnly/);
    const headers = { cookie: cookie.split(';')[0] ?? '' };
    expect((await fetch(`${server.url}/api/v1/tasks`, { headers })).status).toBe(200);
    expect(await (await fetch(`${server.url}/api/v1/session`, { headers })).json()).toMatchObject({
      actor: 'user:Test User',
    });
    expect((await fetch(link, { redirect: 'manual' })).status).toBe(401);
    // The link is no token, and nobody was told more than was asked for.
    expect(link).not.toContain(server.token);
    expect(server.told()).toBe('');
  });

  test.each([
    ['there is no browser', undefined, /xdg-open could not be run/],
    ['it does not start', 'exit 3', /xdg-open ended with 3/],
  ])('tells the link when %s, and goes on', async (_name, script, why) => {
    await using project = await forgeProject();
    if (script !== undefined) plantOpener(project, script);
    // Whatever this machine has must not open anything.
    const env = { PATH: project.bin };
    await using server = await startForgeServer(project, ['--port', '0', '--open'], { env });
    await expect.poll(() => server.told(), { timeout: 10_000 }).toMatch(why);
    expect(server.told()).toMatch(/^forge: The browser could not be opened .*works once: http\S+\n$/);
    const link = /(http\S+)\n$/.exec(server.told())?.[1] ?? '';
    expect((await fetch(link, { redirect: 'manual' })).status).toBe(303);
    expect((await server.ask('/api/v1/tasks')).status).toBe(200);
  });

  test('opens nothing unless it is asked to', async () => {
    await using project = await forgeProject();
    const opened = plantOpener(project, 'exit 0');
    await using server = await startForgeServer(project);
    server.kill('SIGTERM');
    await server.ended;
    expect(existsSync(opened)).toBe(false);
  });
});

/** A browser that writes down what it was given; returns where. */
function plantOpener({ bin, home }: ForgeProject, end: string): string {
  const opened = join(home, 'opened');
  const path = join(bin, 'xdg-open');
  writeFileSync(path, `#!/bin/sh\nprintf '%s\\n' "$@" > '${opened}'\n${end}\n`);
  chmodSync(path, 0o755);
  return opened;
}

async function readLink(opened: string, { url }: ForgeServer): Promise<string> {
  await expect
    .poll(() => existsSync(opened) && readFileSync(opened, 'utf8'), { timeout: 10_000 })
    .toMatch(/\n/);
  const [link = '', ...more] = readFileSync(opened, 'utf8').trim().split('\n');
  expect(more).toEqual([]);
  expect(link.startsWith(`${url}/login?code=`)).toBe(true);
  return link;
}

noteLongestBlock(import.meta.filename);
