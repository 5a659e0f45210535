import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '#contract/operations.ts';
import { createTask } from '#contract/task-operations.ts';
import type { OperationCaller } from '#operations/call-operation.ts';
import { forgeFolderHere } from '../../tests/support/forge-here.ts';
import { startHttp } from '../../tests/support/http-server.ts';
import { readAnswer } from './remote-operation.ts';
import { checkCallInput } from './serve/check-call-input.ts';
import { VERSION } from './version.ts';

/** Does not know labels in `task.create`; what it answers of all else nobody can read. */
const OTHER: OperationCaller = {
  async call({ name, input }) {
    if (name !== 'task.create') return { name };
    return checkCallInput({ ...createTask, input: createTask.input.omit({ labels: true }) }, input);
  },
};

async function otherServer(version: string) {
  const declarations = OPERATIONS.filter(({ name }) => name !== 'task.ready');
  const http = await startHttp({ caller: OTHER, deps: { version, declarations } });
  let requests = 0;
  http.server.on('request', () => (requests += 1));
  const folder = await forgeFolderHere();
  const { token } = await http.token('task');
  const forge = folder.with({ env: { FORGE_SERVER: `http://${http.host}`, FORGE_TOKEN: token } });
  return {
    http,
    async ask(...command: string[]) {
      const before = requests;
      const { stdout } = await forge.run(...command, '--json');
      const { error } = JSON.parse(stdout) as { error: { code: string; hint?: string } };
      return { code: error.code, hint: error.hint, requests: requests - before };
    },
    async [Symbol.asyncDispose]() {
      await http[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const UNKNOWN = [
  [['ready'], 'not_found'],
  [['task', 'create', 'x', '--label', 'y'], 'invalid_input'],
  [['stats'], 'server_unreachable'],
] as const;

describe('a server that does not know what this version asks for', () => {
  it.each([
    ['0.0.9', 'update Forge where the server runs, and start it again'],
    ['99.0.0', 'update Forge here'],
  ])('is named with both versions where it is %s, without a request more', async (version, advice) => {
    await using server = await otherServer(version);
    const hint = `The server is Forge ${version} and this is Forge ${VERSION}: ${advice}`;
    for (const [command, code] of UNKNOWN)
      expect(await server.ask(...command)).toEqual({ code, hint, requests: 1 });
  });

  it('is not spoken of by its version where that is the same, or another refusal has nothing to do with it', async () => {
    await using same = await otherServer(VERSION);
    for (const [command, code] of UNKNOWN) {
      const told = await same.ask(...command);
      expect(told).toMatchObject({ code, requests: 1 });
      expect(told.hint).not.toContain('The server is Forge');
    }
    const url = new URL('http://x/api/v1/operations/task.show');
    const text = JSON.stringify({
      code: 'not_found',
      message: 'No task',
      hint: 'look',
      details: { id: 'x' },
    });
    expect(() => readAnswer(url, { status: 404, text, version: '99.0.0' }, undefined)).toThrow(
      expect.objectContaining({ code: 'not_found', hint: 'look' }) as Error,
    );
  });

  it('is named so also where it refuses with a code that is not known here', () => {
    const url = new URL('http://x/api/v1/operations/task.show');
    const text = JSON.stringify({ code: 'of_tomorrow', message: 'Not today' });
    expect(() => readAnswer(url, { status: 409, text, version: '99.0.0' }, undefined)).toThrow(
      expect.objectContaining({
        code: 'internal',
        message: 'of_tomorrow: Not today',
        hint: `The server is Forge 99.0.0 and this is Forge ${VERSION}: update Forge here`,
      }) as Error,
    );
  });

  it('tells its version to nobody without a token', async () => {
    await using server = await otherServer('0.0.9');
    const { token } = await server.http.token('read');
    const path = '/api/v1/operations/stats';
    const ask = { method: 'POST', path, body: {} };
    expect((await server.http.ask({ ...ask, token })).headers['forge-version']).toBe('0.0.9');
    expect((await server.http.ask(ask)).headers).not.toHaveProperty('forge-version');
    expect((await server.http.ask({ path: '/api/status' })).headers).not.toHaveProperty('forge-version');
  });
});
