import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { findProject } from '#sync/find-project.ts';
import { isTrusted } from '#sync/trust.ts';
import { startProjectHttp } from '../../tests/support/http-server.ts';
import { createLocalCaller } from './local-caller.ts';
import { toHomePlace } from '#sync/forge-home.ts';

/** Whose word makes a step trusted, by each way that a step can come in. */
describe('a step that is set', () => {
  it('[S354] [B13] by REST or MCP: a person with the scope exec, and nobody else', async () => {
    await using http = await startProjectHttp();
    const { home } = toHomePlace(http.env, http.env['HOME'] ?? '');
    const { paths } = findProject(http.root, http.env, http.env['HOME'] ?? '');
    const trusts = (step: string): Promise<boolean> => isTrusted({ home, paths }, step);
    const create = (token: string, step: string) =>
      http.ask({
        method: 'POST',
        path: '/api/v1/tasks',
        token,
        body: { title: 'x', review_config: { ci_steps: [step] } },
      });
    const createByTool = async (token: string, step: string) => {
      const { json } = await http.ask({
        method: 'POST',
        path: '/mcp',
        token,
        headers: { accept: 'application/json, text/event-stream' },
        body: {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: {
            name: 'forge_create_task',
            arguments: { title: 'x', review_config: { ci_steps: [step] } },
          },
        },
      });
      return (json as { result: { isError?: boolean; structuredContent: unknown } }).result;
    };
    const { token: runner } = await http.token('exec');
    const { token: writer } = await http.token('task');
    const { token: agent } = await http.token('task', 'worker-1');
    expect((await create(runner, 'by exec')).status).toBe(201);
    expect(await trusts('by exec')).toBe(true);
    expect(await createByTool(runner, 'by exec and tool')).toMatchObject({
      structuredContent: { review_config: { ci_steps: ['by exec and tool'] } },
    });
    expect(await trusts('by exec and tool')).toBe(true);
    for (const token of [writer, agent]) {
      expect((await create(token, 'by task')).status).toBe(403);
      expect(await createByTool(token, 'by task')).toMatchObject({
        isError: true,
        structuredContent: { error: { code: 'permission_denied' } },
      });
    }
    expect(await trusts('by task')).toBe(false);
  });

  it('by a program that speaks MCP for somebody here: waits for a person', async () => {
    await using http = await startProjectHttp();
    const { home } = toHomePlace(http.env, http.env['HOME'] ?? '');
    const { paths } = findProject(http.root, http.env, http.env['HOME'] ?? '');
    const notices: string[] = [];
    const local = createLocalCaller({
      cwd: http.root,
      env: http.env,
      actor: 'user:ann',
      notice: (line) => void notices.push(line),
      progress: () => undefined,
      meter: () => undefined,
    });
    const caller = {
      actor: { kind: 'user', name: 'ann', named: true },
      scope: 'admin',
      token: 'stdio',
    } as const;
    const input = { title: 'x', review_config: { ci_steps: ['by stdio'] } };
    const task = (await local.call({ name: 'task.create', input, caller })) as Task;
    expect(task.review_config).toEqual({ ci_steps: ['by stdio'] });
    expect(await isTrusted({ home, paths }, 'by stdio')).toBe(false);
    expect(notices).toContain('The steps run once a person has trusted them: forge trust');
  });
});
