import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { forgeProjectHere } from '../support/forge-here.ts';
import { startForgeServer } from '../support/forge-server.ts';
import { noteLongestBlock } from '../support/loop-blocks.ts';
import { rawSocket } from '../support/raw-socket.ts';

const OPEN_FILES = 256;

// Other systems do not tell their limit.
describe.skipIf(process.platform !== 'linux')('forge serve that may open few files', () => {
  test('says so, and connections leave files free for all that it does', async () => {
    await using project = await forgeProjectHere();
    await using server = await startForgeServer(project, ['--port', '0'], { open_files: OPEN_FILES });
    expect(server.told()).toContain(`This process may open ${OPEN_FILES} files`);
    const before = server.told();
    const { port } = new URL(server.url);
    const crowd: Socket[] = [];
    for (let at = 0; at < OPEN_FILES * 2; at += 1) {
      const socket = rawSocket(port);
      crowd.push(socket);
      await once(socket, 'connect');
    }
    expect((await server.ask('/api/v1/tasks')).status).toBe(200);
    const created = await server.ask('/api/v1/tasks', { body: { title: 'beside the crowd' } });
    expect(created.status).toBe(201);
    // It starts git.
    expect((await server.ask('/api/v1/operations/workspace.list', { body: {} })).status).toBe(200);
    expect(server.told()).toBe(before);
    for (const socket of crowd) socket.destroy();
  });
});

noteLongestBlock(import.meta.filename);
