import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ForgeError } from '#kernel/errors.ts';
import { runInFakeProcess as forge } from './fake-process.ts';

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
    expect(await inFolder('task', 'create', 'x', '--description-file', 'spec.md')).toMatchObject({
      exit: 0,
      input: { title: 'x', description: '# Spec\n' },
    });
  });
  it('without a byte order mark', async () => {
    expect(await inFolder('task', 'create', 'x', '--description-file', 'bom.md')).toMatchObject({
      input: { description: 'Text' },
    });
  });
  it('from the folder of -C, and absolute paths from anywhere', async () => {
    expect(await forge(['task', 'create', 'x', '--description-file', join(folder, 'spec.md')])).toMatchObject(
      { exit: 0 },
    );
    expect(
      await forge(['task', 'create', 'x', '--description-file', 'spec.md'], { io: { cwd: folder } }),
    ).toMatchObject({ exit: 0 });
  });
  it('from standard input', async () => {
    expect(await forge(['task', 'comment', 'x', '--body-file', '-'])).toMatchObject({
      exit: 0,
      input: { id: 'x', body: 'from stdin\n' },
    });
    expect(await forge(['task', 'update', 'x', '--meta-set', 'log=@-', '--meta-set', 'n=1'])).toMatchObject({
      input: { metadata_set: { log: 'from stdin\n', n: 1 } },
    });
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
    expect(await inFolder('task', 'comment', 'x', '--body-file', 'blank.md')).toMatchObject({
      exit: 2,
      stderr: typed.stderr,
    });
  });
  it('the same way when the slow parser understood the rest', async () => {
    expect(
      await forge([`-C${folder}`, 'task', 'create', 'x', '--description-file', 'spec.md']),
    ).toMatchObject({ input: { description: '# Spec\n' } });
  });
  it('and names the key of a missing one', async () => {
    expect((await inFolder('task', 'update', 'x', '--meta-set', 'log=@nope')).stderr).toBe(
      'forge: --meta-set log: nope does not exist\n',
    );
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
    expect(await forge(['task', 'close', 'x'], { io: { ...both, ask } })).toMatchObject({
      exit: 0,
      input: { id: 'x', reason: 'done' },
    });
    expect(questions).toEqual(['Why is it closed?']);
  });
  it('not when it was given', async () => {
    expect(await forge(['task', 'close', 'x', '--reason', 'y'], { io: both })).toMatchObject({
      exit: 0,
      input: { reason: 'y' },
    });
  });
  const missing = 'forge: --reason is missing\n  try: forge task close <id> --reason <reason> [flags]\n';
  it('nobody where there is no terminal', async () => {
    expect(await forge(['task', 'close', 'x'])).toMatchObject({ stderr: missing, exit: 2, log: [] });
    expect(
      await forge(['task', 'close', 'x'], {
        io: { isTerminal: { stdin: true, stdout: true, stderr: false } },
      }),
    ).toMatchObject({ stderr: missing });
  });
  it('and takes silence for no answer', async () => {
    for (const answer of [undefined, '', '  ']) {
      expect(await forge(['task', 'close', 'x'], { io: { ...both, ask: async () => answer } })).toMatchObject(
        { stderr: missing, exit: 2 },
      );
    }
  });
  it('and refuses an answer that breaks the rule, like a typed one', async () => {
    const out = await forge(['task', 'close', 'x'], { io: { ...both, ask: async () => 'x'.repeat(2_001) } });
    expect(out).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('--reason: must have at most 2000 characters') as string,
    });
  });
  it('and ends with 130 on Ctrl-C', async () => {
    const ask = () => Promise.reject(new ForgeError('interrupted', 'Interrupted'));
    expect(await forge(['task', 'close', 'x'], { io: { ...both, ask } })).toMatchObject({
      exit: 130,
      log: [],
    });
  });
});
