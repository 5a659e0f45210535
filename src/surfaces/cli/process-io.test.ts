import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
/** A program around runCli: its one operation prints as many kilobytes as the title says. */
const PROGRAM = `
import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import { createProcessIo } from '#surfaces/cli/process-io.ts';
import { runCli } from '#surfaces/cli/run-cli.ts';
const context = { clock: { now: () => 0 }, async [Symbol.asyncDispose]() {} };
const operation = {
  run: async (_ctx, input) => input,
  text: (input) => (/^\\d+$/.test(input.title ?? '') ? 'x'.repeat(Number(input.title) * 1024) : JSON.stringify(input)),
};
const code = await runCli(process.argv.slice(1), createProcessIo(), {
  table: FLAG_TABLE, version: '1.2.3', loadOperation: async () => operation, openContext: async () => context,
});
process.exit(code);
`;
const HAS_PYTHON = spawnSync('python3', ['-c', 'import pty, fcntl']).status === 0;
const node = ['--input-type=module', '-e', PROGRAM, '--'];

function forge(argv: readonly string[], options: { input?: string | Buffer } = {}) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [...node, ...argv], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 27,
    ...options,
  });
  return { stdout, stderr, status };
}

function start(argv: readonly string[]): ChildProcess {
  return spawn(process.execPath, [...node, ...argv], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('close', resolve));
}

describe('a real process', () => {
  it('writes an answer of 20 MB in full before it ends', () => {
    const { stdout, status } = forge(['task', 'create', '20480']);
    expect(stdout.length).toBe(20_480 * 1024 + 1);
    expect(status).toBe(0);
  });
  it('waits for a slow reader', async () => {
    const child = start(['task', 'create', '4096']);
    await new Promise((resolve) => setTimeout(resolve, 300));
    let size = 0;
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
    });
    expect(await ended(child)).toBe(0);
    expect(size).toBe(4_096 * 1024 + 1);
  });
  it.skipIf(!HAS_PYTHON)('waits even on a pipe that does not block (python3 makes it)', () => {
    // A parent that made the shared pipe non-blocking: writes fail with EAGAIN until the reader catches up.
    const script =
      'import fcntl,os,sys,subprocess,time\nr,w=os.pipe()\nfcntl.fcntl(w,fcntl.F_SETFL,fcntl.fcntl(w,fcntl.F_GETFL)|os.O_NONBLOCK)\np=subprocess.Popen(sys.argv[1:],stdout=w)\nos.close(w)\ntime.sleep(0.5)\nn=0\nwhile True:\n  b=os.read(r,65536)\n  if not b: break\n  n+=len(b)\nprint(n,p.wait())';
    const { stdout } = spawnSync(
      'python3',
      ['-c', script, process.execPath, ...node, 'task', 'create', '4096'],
      { cwd: ROOT, encoding: 'utf8' },
    );
    expect(stdout).toBe(`${4_096 * 1024 + 1} 0\n`);
  });
  it('ends quietly when the reader goes away', async () => {
    const child = start(['task', 'create', '20480']);
    let errors = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    child.stdout?.once('data', () => child.stdout?.destroy());
    expect(await ended(child)).toBe(0);
    expect(errors).toBe('');
  });
  it.skipIf(!existsSync('/dev/full'))('says so when the disk is full', () => {
    const full = openSync('/dev/full', 'w');
    const { stderr, status } = spawnSync(process.execPath, [...node, 'ready'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);
    expect(stderr).toBe('forge: The command was carried out, but its answer could not be written (ENOSPC)\n');
    expect(status).toBe(1);
  });
  it('reads standard input to its end', () => {
    const { stdout, status } = forge(['task', 'comment', 'x', '--body-file', '-'], {
      input: 'ä'.repeat(100_000),
    });
    expect(JSON.parse(stdout)).toEqual({ id: 'x', body: 'ä'.repeat(100_000) });
    expect(status).toBe(0);
  });
  it('refuses standard input that is not UTF-8', () => {
    expect(
      forge(['task', 'comment', 'x', '--body-file', '-'], { input: Buffer.from([0xc3, 0x28]) }),
    ).toMatchObject({
      stderr: 'forge: --body-file: Standard input is not valid UTF-8\n',
      status: 2,
    });
  });
  it.skipIf(process.platform !== 'linux')('tells bad bytes from a real U+FFFD', () => {
    const run = (word: string) =>
      spawnSync(
        'sh',
        ['-c', `exec "$0" "$@" "$(printf '${word}')"`, process.execPath, ...node, 'task', 'create'],
        { cwd: ROOT, encoding: 'utf8' },
      );
    expect(run('a\\377')).toMatchObject({ stderr: 'forge: Argument 3 is not valid UTF-8\n', status: 2 });
    expect(run('a\\357\\277\\275')).toMatchObject({ stdout: '{"title":"a\ufffd"}\n', status: 0 });
  });
  it('dies of SIGINT, which a shell reports as 130', async () => {
    const child = start(['task', 'create', '20480']);
    child.stdout?.once('readable', () => child.kill('SIGINT'));
    await ended(child);
    expect(child.signalCode).toBe('SIGINT');
  });
});

/** Runs a program on a terminal of its own and types into it; python3 brings the pseudo-terminal. */
function onTerminal(argv: readonly string[], keys: string): { text: string; status: number } | undefined {
  const script =
    'import pty,os,sys,time\npid,fd=pty.fork()\nif pid==0: os.execv(sys.argv[2],sys.argv[2:])\nout=b""\nsent=False\nwhile True:\n  try: b=os.read(fd,4096)\n  except OSError: break\n  if not b: break\n  out+=b\n  if not sent and b"?" in out: sent=True; time.sleep(0.2); os.write(fd,sys.argv[1].encode())\nst=os.waitpid(pid,0)[1]\nsys.stdout.write(out.decode()); sys.exit(os.waitstatus_to_exitcode(st))';
  const { stdout, status, error } = spawnSync(
    'python3',
    ['-c', script, keys, process.execPath, ...node, ...argv],
    { cwd: ROOT, encoding: 'utf8' },
  );
  return error === undefined && status !== null ? { text: stdout, status } : undefined;
}

describe.skipIf(!HAS_PYTHON)('a real terminal (python3 makes it)', () => {
  it('is asked for what is missing', () => {
    const answered = onTerminal(['task', 'close', 'x'], 'because\r');
    expect(answered?.text).toContain('Why is it closed?');
    expect(answered?.text).toContain('{"id":"x","reason":"because"}');
    expect(answered?.status).toBe(0);
  });
  it('is believed when it says nothing', () => {
    expect(onTerminal(['task', 'close', 'x'], '\u0004')).toMatchObject({
      status: 2,
      text: expect.stringContaining('--reason is missing') as string,
    });
  });
  it('can interrupt the question', () => {
    expect(onTerminal(['task', 'close', 'x'], '\u0003')).toMatchObject({ status: 130 });
  });
});
