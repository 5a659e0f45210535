import { describe, expect, it } from 'vitest';
import { ForgeError } from '#kernel/errors.ts';
import type { AnyOperation } from '#operations/flag-table.ts';
import { runInFakeProcess as forge } from './fake-process.ts';

const terminal = { isTerminal: { stdin: true, stdout: true, stderr: true } };

describe('runCli prints the answer', () => {
  it('as text with a newline', async () => {
    const out = await forge(['ready'], { run: () => [], text: () => 'nothing to do' });
    expect(out).toMatchObject({ stdout: 'nothing to do\n', stderr: '', exit: 0 });
  });
  it('prints nothing for an empty text', async () => {
    expect(await forge(['ready'], { text: () => '' })).toMatchObject({ stdout: '', exit: 0 });
  });
  it('as one line of JSON for a program', async () => {
    expect((await forge(['ready', '--json'], { run: () => [{ id: 'a' }] })).stdout).toBe('[{"id":"a"}]\n');
  });
  it('as indented JSON for a person, with nothing in it that a terminal obeys', async () => {
    const { stdout } = await forge(['ready', '--json'], {
      run: () => [{ id: 'a\u009b2J\u202e\u001b' }],
      io: terminal,
    });
    expect(stdout).toBe('[\n  {\n    "id": "a\\u009b2J\\u202e\\u001b"\n  }\n]\n');
    expect(JSON.parse(stdout)).toEqual([{ id: 'a\u009b2J\u202e\u001b' }]);
  });
  it('after the context is closed', async () => {
    expect((await forge(['ready'])).log).toEqual(['loaded task.ready', 'ran', 'closed', 'printed']);
  });
  it('tells the text where it is going', async () => {
    const text: AnyOperation['text'] = (_output, view) => JSON.stringify(view);
    expect((await forge(['ready'], { text })).stdout).toBe('{"color":false,"columns":null,"now":42}\n');
    expect((await forge(['ready'], { text, io: { ...terminal, columns: 99 } })).stdout).toBe(
      '{"color":true,"columns":99,"now":42}\n',
    );
    expect((await forge(['ready', '--no-color'], { text, io: { ...terminal, columns: 99 } })).stdout).toMatch(
      /"color":false/,
    );
    expect((await forge(['ready'], { text, io: { env: { FORCE_COLOR: '1' } } })).stdout).toMatch(
      /"color":true/,
    );
  });
});

describe('runCli --fields', () => {
  const rows = [
    { id: 'a', title: 'x', close_reason: 'done' },
    { id: 'b', title: 'y' },
  ];
  it('projects every row, in the order asked for', async () => {
    const { stdout } = await forge(['task', 'list', '--json', '--fields', 'title,id'], { run: () => rows });
    expect(stdout).toBe('[{"title":"x","id":"a"},{"title":"y","id":"b"}]\n');
  });
  it('projects an object', async () => {
    expect(
      (await forge(['task', 'show', 'a', '--json', '--fields', 'id'], { run: () => rows[0] })).stdout,
    ).toBe('{"id":"a"}\n');
  });
  it('leaves out what a row does not have', async () => {
    const { stdout } = await forge(['task', 'list', '--json', '--fields', 'id,close_reason'], {
      run: () => rows,
    });
    expect(stdout).toBe('[{"id":"a","close_reason":"done"},{"id":"b"}]\n');
  });
  it('does not mind an empty list', async () => {
    expect((await forge(['task', 'list', '--json', '--fields', 'id'], { run: () => [] })).stdout).toBe(
      '[]\n',
    );
  });
  it('refuses an unknown field before anything runs', async () => {
    const out = await forge(['task', 'create', 'x', '--json', '--fields', 'id,foo']);
    expect(out).toMatchObject({ exit: 2, log: ['printed'] });
    expect(JSON.parse(out.stdout)).toMatchObject({ error: { code: 'usage', details: { unknown: ['foo'] } } });
  });
});

describe('runCli reports errors', () => {
  const fails = {
    run: () => {
      throw new ForgeError('not_found', 'No task fg-\u001b[31m', {
        hint: 'forge search',
        details: { id: 'fg-' },
      });
    },
  };
  it('on stderr, escaped, with the next step and the exit code of the table', async () => {
    expect(await forge(['task', 'show', 'x'], fails)).toMatchObject({
      stdout: '',
      stderr: 'forge: No task fg-\\u001b[31m\n  try: forge search\n',
      exit: 3,
    });
  });
  it('with --json on stdout alone', async () => {
    const out = await forge(['task', 'show', 'x', '--json'], fails);
    expect(out).toMatchObject({ stderr: '', exit: 3 });
    expect(JSON.parse(out.stdout)).toEqual({
      error: {
        code: 'not_found',
        message: 'No task fg-\u001b[31m',
        hint: 'forge search',
        details: { id: 'fg-' },
      },
    });
  });
  it('with --json even when the rest of argv is wrong', async () => {
    for (const argv of [
      ['ready', '--limt', '--json'],
      ['tsak', '--json'],
      ['--json'],
      ['--json', 'ready', '--limit'],
    ]) {
      const out = await forge(argv);
      expect(out).toMatchObject({ stderr: '', exit: 2 });
      expect(JSON.parse(out.stdout)).toMatchObject({ error: { code: 'usage' } });
    }
  });
  it('does not take a --json behind -- for the flag', async () => {
    expect(await forge(['ready', '--', '--json'])).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('Too many') as string,
    });
  });
  it('as internal when it is nothing of ours, with the stack only on request', async () => {
    const bug = {
      run: () => {
        throw new TypeError('x is not a function');
      },
    };
    expect(await forge(['ready'], bug)).toMatchObject({
      stderr: 'forge: Unexpected failure: x is not a function\n',
      exit: 1,
    });
    expect((await forge(['ready'], { ...bug, io: { env: { FORGE_DEBUG: '1' } } })).stderr).toMatch(
      /\n\s+at /,
    );
    expect((await forge(['ready', '--limt'], { io: { env: { FORGE_DEBUG: '1' } } })).stderr).not.toMatch(
      /\n\s+at /,
    );
  });
  it('when the context cannot be opened', async () => {
    const openContext = () =>
      Promise.reject(new ForgeError('not_a_project', 'Not a Forge project', { hint: 'forge init' }));
    expect(await forge(['ready'], { openContext })).toMatchObject({
      stderr: 'forge: Not a Forge project\n  try: forge init\n',
      exit: 5,
    });
  });
  it('when the answer cannot be written', async () => {
    const full = (code: string) => ({
      stdout: () => Promise.reject(Object.assign(new Error(code), { code })),
    });
    expect(await forge(['ready'], { io: full('ENOSPC') })).toMatchObject({
      stderr: 'forge: The command was carried out, but its answer could not be written (ENOSPC)\n',
      exit: 1,
    });
    expect(await forge(['ready', '--json'], { io: full('EIO') })).toMatchObject({
      stderr: 'forge: The command was carried out, but its answer could not be written (EIO)\n',
      exit: 1,
    });
  });
  it('not when the reader went away', async () => {
    const io = { stdout: () => Promise.reject(Object.assign(new Error('EPIPE'), { code: 'EPIPE' })) };
    expect(await forge(['ready'], { io })).toMatchObject({ stderr: '', exit: 0 });
    expect(await forge(['ready', '--json'], { io })).toMatchObject({ stderr: '', exit: 0 });
  });
  it('without minding that stderr is gone', async () => {
    expect(await forge(['tsak'], { io: { stderr: () => Promise.reject(new Error('EPIPE')) } })).toMatchObject(
      { exit: 2 },
    );
  });
  it('with 130 when it is interrupted', async () => {
    const controller = new AbortController();
    const pending = forge(['ready'], {
      run: () => new Promise(() => controller.abort()),
      io: { interrupted: controller.signal },
    });
    expect(await pending).toMatchObject({ stderr: 'forge: Interrupted\n', exit: 130 });
    expect(await forge(['ready'], { io: { interrupted: AbortSignal.abort() } })).toMatchObject({ exit: 130 });
  });
});

describe('runCli without an operation', () => {
  it('prints the version', async () => {
    expect(await forge(['--version'])).toMatchObject({ stdout: '1.2.3\n', exit: 0, log: ['printed'] });
    expect(await forge(['--version', '--json'])).toMatchObject({ stdout: '{"version":"1.2.3"}\n', exit: 0 });
    expect(await forge(['--json', '--version'], { io: terminal })).toMatchObject({
      stdout: '{\n  "version": "1.2.3"\n}\n',
    });
  });
  it('prints help', async () => {
    expect(await forge([])).toMatchObject({
      stdout: expect.stringContaining('Start here:') as string,
      exit: 0,
      log: ['printed'],
    });
    expect(await forge(['help', 'task', 'create'])).toMatchObject({
      stdout: expect.stringContaining('forge task create <title>') as string,
      exit: 0,
    });
    expect((await forge(['ready', '--help'], { io: terminal })).stdout).toContain('\u001b[1m');
    expect((await forge(['ready', '--help', '--no-color'], { io: terminal })).stdout).not.toContain('\u001b');
  });
  it('refuses arguments that are not UTF-8', async () => {
    const rawArgv = () => Buffer.concat([Buffer.from('node\0forge\0task\0create\0'), Buffer.from([0xff, 0])]);
    expect(await forge(['task', 'create', '\ufffd'], { io: { rawArgv } })).toMatchObject({
      stderr: 'forge: Argument 3 is not valid UTF-8\n',
      exit: 2,
    });
  });
});
