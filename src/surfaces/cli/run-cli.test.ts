import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ForgeError } from '#kernel/errors.ts';
import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import type { AnyOperation } from '#operations/flag-table.ts';
import type { OperationContext } from '#operations/operation.ts';
import type { CliIo } from './cli-io.ts';
import { type CliDeps, runCli } from './run-cli.ts';

interface Setup {
  readonly run?: (input: Record<string, unknown>) => unknown;
  readonly text?: AnyOperation['text'];
  readonly notices?: readonly string[];
  readonly io?: Partial<CliIo>;
  readonly openContext?: CliDeps['openContext'];
}

/** One command in a process that exists only in this file. */
async function forge(argv: readonly string[], setup: Setup = {}) {
  const out = { stdout: '', stderr: '', exit: -1, log: [] as string[], input: undefined as unknown };
  const io: CliIo = {
    stdout: async (text) => {
      out.log.push('printed');
      out.stdout += text;
    },
    stderr: async (text) => {
      out.stderr += text;
    },
    stdin: async () => Buffer.from('from stdin\n'),
    ask: () => Promise.reject(new Error('asked without a terminal')),
    env: {},
    isTerminal: { stdin: false, stdout: false, stderr: false },
    columns: undefined,
    cwd: tmpdir(),
    rawArgv: () => undefined,
    ...setup.io,
  };
  // Only the clock is used by the surface itself; the rest is the operation's.
  const context = { clock: { now: () => 42 } } as unknown as OperationContext;
  const deps: CliDeps = {
    version: '1.2.3',
    table: FLAG_TABLE,
    loadOperation: async (name) => {
      out.log.push(`loaded ${name}`);
      const operation: AnyOperation = {
        run: async (_ctx, input) => {
          out.log.push('ran');
          out.input = input;
          return setup.run?.(input) ?? { id: 'fg-a3f8', title: 'x' };
        },
        text: setup.text ?? ((output) => `text of ${JSON.stringify(output)}`),
        ...(setup.notices !== undefined && { notices: () => setup.notices ?? [] }),
      };
      return operation;
    },
    openContext:
      setup.openContext ??
      (async () => ({
        ...context,
        [Symbol.asyncDispose]: async () => {
          out.log.push('closed');
        },
      })),
  };
  out.exit = await runCli(argv, io, deps);
  return out;
}
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
    const { stdout } = await forge(['ready', '--json'], { run: () => [{ id: 'a\u009b2J\u202e\u001b' }], io: terminal });
    expect(stdout).toBe('[\n  {\n    "id": "a\\u009b2J\\u202e\\u001b"\n  }\n]\n');
    expect(JSON.parse(stdout)).toEqual([{ id: 'a\u009b2J\u202e\u001b' }]);
  });
  it('after the context is closed', async () => {
    expect((await forge(['ready'])).log).toEqual(['loaded task.ready', 'ran', 'closed', 'printed']);
  });
  it('tells the text where it is going', async () => {
    const text: AnyOperation['text'] = (_output, view) => JSON.stringify(view);
    expect((await forge(['ready'], { text })).stdout).toBe('{"color":false,"columns":null,"now":42}\n');
    expect((await forge(['ready'], { text, io: { ...terminal, columns: 99 } })).stdout).toBe('{"color":true,"columns":99,"now":42}\n');
    expect((await forge(['ready', '--no-color'], { text, io: { ...terminal, columns: 99 } })).stdout).toMatch(/"color":false/);
    expect((await forge(['ready'], { text, io: { env: { FORCE_COLOR: '1' } } })).stdout).toMatch(/"color":true/);
  });
  it('with notices on stderr, unless --quiet', async () => {
    const notices = ['lost the claim\u001b[2J'];
    expect(await forge(['ready'], { notices })).toMatchObject({ stderr: 'lost the claim\\u001b[2J\n', exit: 0 });
    expect(await forge(['ready', '--json'], { notices })).toMatchObject({ stderr: 'lost the claim\\u001b[2J\n' });
    expect(await forge(['ready', '--quiet'], { notices })).toMatchObject({ stderr: '' });
  });
});

describe('runCli --fields', () => {
  const rows = [{ id: 'a', title: 'x', close_reason: 'done' }, { id: 'b', title: 'y' }];
  it('projects every row, in the order asked for', async () => {
    const { stdout } = await forge(['task', 'list', '--json', '--fields', 'title,id'], { run: () => rows });
    expect(stdout).toBe('[{"title":"x","id":"a"},{"title":"y","id":"b"}]\n');
  });
  it('projects an object', async () => {
    expect((await forge(['task', 'show', 'a', '--json', '--fields', 'id'], { run: () => rows[0] })).stdout).toBe('{"id":"a"}\n');
  });
  it('leaves out what a row does not have', async () => {
    const { stdout } = await forge(['task', 'list', '--json', '--fields', 'id,close_reason'], { run: () => rows });
    expect(stdout).toBe('[{"id":"a","close_reason":"done"},{"id":"b"}]\n');
  });
  it('does not mind an empty list', async () => {
    expect((await forge(['task', 'list', '--json', '--fields', 'id'], { run: () => [] })).stdout).toBe('[]\n');
  });
  it('refuses an unknown field before anything runs', async () => {
    const out = await forge(['task', 'create', 'x', '--json', '--fields', 'id,foo']);
    expect(out).toMatchObject({ exit: 2, log: ['printed'] });
    expect(JSON.parse(out.stdout)).toMatchObject({ error: { code: 'usage', details: { unknown: ['foo'] } } });
  });
});

describe('runCli reports errors', () => {
  const fails = { run: () => { throw new ForgeError('not_found', 'No task fg-\u001b[31m', { hint: 'forge search', details: { id: 'fg-' } }); } };
  it('on stderr, escaped, with the next step and the exit code of the table', async () => {
    expect(await forge(['task', 'show', 'x'], fails)).toMatchObject({ stdout: '', stderr: 'forge: No task fg-\\u001b[31m\n  try: forge search\n', exit: 3 });
  });
  it('with --json on stdout alone', async () => {
    const out = await forge(['task', 'show', 'x', '--json'], fails);
    expect(out).toMatchObject({ stderr: '', exit: 3 });
    expect(JSON.parse(out.stdout)).toEqual({ error: { code: 'not_found', message: 'No task fg-\u001b[31m', hint: 'forge search', details: { id: 'fg-' } } });
  });
  it('with --json even when the rest of argv is wrong', async () => {
    for (const argv of [['ready', '--limt', '--json'], ['tsak', '--json'], ['--json'], ['--json', 'ready', '--limit']]) {
      const out = await forge(argv);
      expect(out).toMatchObject({ stderr: '', exit: 2 });
      expect(JSON.parse(out.stdout)).toMatchObject({ error: { code: 'usage' } });
    }
  });
  it('does not take a --json behind -- for the flag', async () => {
    expect(await forge(['ready', '--', '--json'])).toMatchObject({ stdout: '', stderr: expect.stringContaining('Too many') as string });
  });
  it('as internal when it is nothing of ours, with the stack only on request', async () => {
    const bug = { run: () => { throw new TypeError('x is not a function'); } };
    expect(await forge(['ready'], bug)).toMatchObject({ stderr: 'forge: Unexpected failure: x is not a function\n', exit: 1 });
    expect((await forge(['ready'], { ...bug, io: { env: { FORGE_DEBUG: '1' } } })).stderr).toMatch(/\n\s+at /);
    expect((await forge(['ready', '--limt'], { io: { env: { FORGE_DEBUG: '1' } } })).stderr).not.toMatch(/\n\s+at /);
  });
  it('when the context cannot be opened', async () => {
    const openContext = () => Promise.reject(new ForgeError('not_a_project', 'Not a Forge project', { hint: 'forge init' }));
    expect(await forge(['ready'], { openContext })).toMatchObject({ stderr: 'forge: Not a Forge project\n  try: forge init\n', exit: 5 });
  });
  it('when the answer cannot be written', async () => {
    const full = (code: string) => ({ stdout: () => Promise.reject(Object.assign(new Error(code), { code })) });
    expect(await forge(['ready'], { io: full('ENOSPC') })).toMatchObject({ stderr: 'forge: The answer could not be written (ENOSPC)\n', exit: 1 });
    expect(await forge(['ready', '--json'], { io: full('EIO') })).toMatchObject({ stderr: 'forge: The answer could not be written (EIO)\n', exit: 1 });
  });
  it('not when the reader went away', async () => {
    const io = { stdout: () => Promise.reject(Object.assign(new Error('EPIPE'), { code: 'EPIPE' })) };
    expect(await forge(['ready'], { io })).toMatchObject({ stderr: '', exit: 0 });
    expect(await forge(['ready', '--json'], { io })).toMatchObject({ stderr: '', exit: 0 });
  });
  it('without minding that stderr is gone', async () => {
    expect(await forge(['tsak'], { io: { stderr: () => Promise.reject(new Error('EPIPE')) } })).toMatchObject({ exit: 2 });
  });
  it('with 130 when it is interrupted', async () => {
    const controller = new AbortController();
    const pending = forge(['ready'], { run: () => new Promise(() => controller.abort()), io: { interrupted: controller.signal } });
    expect(await pending).toMatchObject({ stderr: 'forge: Interrupted\n', exit: 130 });
    expect(await forge(['ready'], { io: { interrupted: AbortSignal.abort() } })).toMatchObject({ exit: 130 });
  });
});

describe('runCli without an operation', () => {
  it('prints the version', async () => {
    expect(await forge(['--version'])).toMatchObject({ stdout: '1.2.3\n', exit: 0, log: ['printed'] });
    expect(await forge(['--version', '--json'])).toMatchObject({ stdout: '{"version":"1.2.3"}\n', exit: 0 });
    expect(await forge(['--json', '--version'], { io: terminal })).toMatchObject({ stdout: '{\n  "version": "1.2.3"\n}\n' });
  });
  it('prints help', async () => {
    expect(await forge([])).toMatchObject({ stdout: expect.stringContaining('Start here:') as string, exit: 0, log: ['printed'] });
    expect(await forge(['help', 'task', 'create'])).toMatchObject({ stdout: expect.stringContaining('forge task create <title>') as string, exit: 0 });
    expect((await forge(['ready', '--help'], { io: terminal })).stdout).toContain('\u001b[1m');
    expect((await forge(['ready', '--help', '--no-color'], { io: terminal })).stdout).not.toContain('\u001b');
  });
  it('refuses arguments that are not UTF-8', async () => {
    const rawArgv = () => Buffer.concat([Buffer.from('node\0forge\0task\0create\0'), Buffer.from([0xff, 0])]);
    expect(await forge(['task', 'create', '\ufffd'], { io: { rawArgv } })).toMatchObject({ stderr: 'forge: Argument 3 is not valid UTF-8\n', exit: 2 });
  });
});

describe('runCli reads files', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'forge-cli-'));
    await writeFile(join(folder, 'spec.md'), '# Spec\n');
    await writeFile(join(folder, 'bom.md'), '\ufeffText');
    await writeFile(join(folder, 'bad.md'), Buffer.from([0x61, 0xff]));
    await writeFile(join(folder, 'nul.md'), 'a\u0000b');
    await writeFile(join(folder, 'long.md'), 'x'.repeat(1_048_577));
    await writeFile(join(folder, 'huge.md'), Buffer.alloc(4_000_000, 'x'));
    await writeFile(join(folder, 'blank.md'), ' \n');
  });
  afterAll(() => rm(folder, { recursive: true }));
  const inFolder = (...argv: string[]) => forge(['-C', folder, ...argv]);

  it('into a field, byte for byte', async () => {
    expect(await inFolder('task', 'create', 'x', '--description-file', 'spec.md')).toMatchObject({ exit: 0, input: { title: 'x', description: '# Spec\n' } });
  });
  it('without a byte order mark', async () => {
    expect(await inFolder('task', 'create', 'x', '--description-file', 'bom.md')).toMatchObject({ input: { description: 'Text' } });
  });
  it('from the folder of -C, and absolute paths from anywhere', async () => {
    expect(await forge(['task', 'create', 'x', '--description-file', join(folder, 'spec.md')])).toMatchObject({ exit: 0 });
    expect(await forge(['task', 'create', 'x', '--description-file', 'spec.md'], { io: { cwd: folder } })).toMatchObject({ exit: 0 });
  });
  it('from standard input', async () => {
    expect(await forge(['task', 'comment', 'x', '--body-file', '-'])).toMatchObject({ exit: 0, input: { id: 'x', body: 'from stdin\n' } });
    expect(await forge(['task', 'update', 'x', '--meta-set', 'log=@-', '--meta-set', 'n=1'])).toMatchObject({ input: { metadata_set: { log: 'from stdin\n', n: 1 } } });
  });
  it('into keys of metadata, as text whatever it looks like', async () => {
    await writeFile(join(folder, 'n.txt'), '12');
    const { input } = await inFolder('task', 'update', 'x', '--meta-set', '__proto__=@n.txt');
    expect(JSON.stringify(input)).toBe('{"id":"x","metadata_set":{"__proto__":"12"}}');
  });
  const refused: readonly [string, string][] = [
    ['nope.md', '--description-file: nope.md does not exist'],
    ['.', '--description-file: . is a folder'],
    ['bad.md', '--description-file: bad.md is not valid UTF-8'],
    ['nul.md', '--description: the text holds a NUL character'],
    ['long.md', '--description: must have at most 1048576 characters'],
    ['huge.md', '--description-file: huge.md is larger than 3145728 bytes, more than any field can hold'],
  ];
  it.each(refused)('refuses %s', async (path, message) => {
    const out = await inFolder('task', 'create', 'x', '--description-file', path);
    expect(out).toMatchObject({ exit: 2, log: [] });
    expect(out.stderr.split('\n')[0]).toBe(`forge: ${message}`);
  });
  it('with the same words as a value that was typed', async () => {
    const typed = await forge(['task', 'comment', 'x', ' \n']);
    expect(await inFolder('task', 'comment', 'x', '--body-file', 'blank.md')).toMatchObject({ exit: 2, stderr: typed.stderr });
  });
  it('the same way when the slow parser understood the rest', async () => {
    expect(await forge([`-C${folder}`, 'task', 'create', 'x', '--description-file', 'spec.md'])).toMatchObject({ input: { description: '# Spec\n' } });
  });
  it('and names the key of a missing one', async () => {
    expect((await inFolder('task', 'update', 'x', '--meta-set', 'log=@nope')).stderr).toBe('forge: --meta-set log: nope does not exist\n');
  });
});

describe('runCli asks', () => {
  const both = { isTerminal: { stdin: true, stdout: false, stderr: true } };
  it('for a missing reason on a terminal', async () => {
    const questions: string[] = [];
    const ask = async (question: string) => {
      questions.push(question);
      return ' done ';
    };
    expect(await forge(['task', 'close', 'x'], { io: { ...both, ask } })).toMatchObject({ exit: 0, input: { id: 'x', reason: 'done' } });
    expect(questions).toEqual(['Why is it closed?']);
  });
  it('not when it was given', async () => {
    expect(await forge(['task', 'close', 'x', '--reason', 'y'], { io: both })).toMatchObject({ exit: 0, input: { reason: 'y' } });
  });
  const missing = 'forge: --reason is missing\n  try: forge task close <id> --reason <reason> [flags]\n';
  it('nobody where there is no terminal', async () => {
    expect(await forge(['task', 'close', 'x'])).toMatchObject({ stderr: missing, exit: 2, log: [] });
    expect(await forge(['task', 'close', 'x'], { io: { isTerminal: { stdin: true, stdout: true, stderr: false } } })).toMatchObject({ stderr: missing });
  });
  it('and takes silence for no answer', async () => {
    for (const answer of [undefined, '', '  ']) {
      expect(await forge(['task', 'close', 'x'], { io: { ...both, ask: async () => answer } })).toMatchObject({ stderr: missing, exit: 2 });
    }
  });
  it('and refuses an answer that breaks the rule, like a typed one', async () => {
    const out = await forge(['task', 'close', 'x'], { io: { ...both, ask: async () => 'x'.repeat(2_001) } });
    expect(out).toMatchObject({ exit: 2, stderr: expect.stringContaining('--reason: must have at most 2000 characters') as string });
  });
  it('and ends with 130 on Ctrl-C', async () => {
    const ask = () => Promise.reject(new ForgeError('interrupted', 'Interrupted'));
    expect(await forge(['task', 'close', 'x'], { io: { ...both, ask } })).toMatchObject({ exit: 130, log: [] });
  });
});
