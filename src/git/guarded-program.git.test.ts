import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type GitPlace, gitPlace } from '../../tests/support/git-places.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { startGuarded } from './guarded-program.ts';
import { runApart } from './run-apart.ts';

const WORKER = fileURLToPath(new URL('../../tests/support/guarded-worker.ts', import.meta.url));

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that nobody has waited for is dead all the same.
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** What is alive in the process group that began with this process. */
function listGroup(pid: number | undefined): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name) || !isAlive(Number(name))) return false;
    try {
      const [, group] = /\) \w \d+ (\d+) /.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? [];
      return group === String(pid);
    } catch {
      return false;
    }
  });
}

const options = { cwd: '/', env: { ...process.env }, timeout_ms: 20_000 };
const shell = (script: string, input = '') => runApart('sh', ['-c', script], { ...options, input });

describe.skipIf(process.platform !== 'linux')('a guarded program', () => {
  it('[A6] has its input, arguments, output and exit code, and no word of the shell around it', async () => {
    const odd = [`a 'b' "c"`, '$(id)', '', '*', '-x'];
    const program = 'cat; printf "<%s>" "$@"; echo told >&2; exit 7';
    const result = await runApart('sh', ['-c', program, 'name', ...odd], { ...options, input: 'in\n' });
    expect(result).toEqual({
      stdout: `in\n${odd.map((arg) => `<${arg}>`).join('')}`,
      stderr: 'told\n',
      exit: 7,
      timed_out: false,
    });
    expect(await shell('exit 0')).toMatchObject({ exit: 0, stderr: '' });
    expect(await shell('kill -KILL $$')).toMatchObject({ exit: 137, stdout: '', stderr: '' });
    expect(await shell('kill -TERM $$')).toMatchObject({ exit: 143, stderr: '' });
    expect((await shell('exec 2>&1; ls /proc/self/fd')).stdout).not.toMatch(/^[4-9]$/m);
    // The usual signals are as they are for any program.
    expect((await shell('grep SigIgn /proc/self/status')).stdout).toMatch(/SigIgn:\s+0+(?:1000)?$/m);
  });

  it('[A6] that cannot be started is told of', async () => {
    await using folder = await tempFolder();
    const file = join(folder.path, 'program');
    await expect(runApart(file, [], options)).rejects.toThrow(`${file} could not be started: `);
    writeFileSync(file, 'exit 5\n');
    await expect(runApart(file, [], options)).rejects.toThrow(/could not be started: .*denied/i);
    chmodSync(file, 0o755);
    expect(await runApart(file, [], options)).toMatchObject({ exit: 5 });
    const cwd = join(folder.path, 'gone');
    await expect(runApart('sh', [], { ...options, cwd })).rejects.toThrow('could not be started');
  });

  it('[A6] leaves nothing of its guard behind, however it ends', async () => {
    const run = async (script: string, signal?: NodeJS.Signals): Promise<number | undefined> => {
      const { child, stdin, stdout, stderr, endGroup } = startGuarded('sh', ['-c', script], options);
      stdin.end();
      stdout.resume();
      stderr.resume();
      if (signal !== undefined) stdout.once('data', () => endGroup(signal));
      await once(child, 'close');
      return child.pid;
    };
    for (const script of ['exit 0', 'exit 3', 'kill -KILL $$'])
      expect(listGroup(await run(script))).toEqual([]);
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const ended = await run('echo begun; sleep 602', signal);
      await expect.poll(() => listGroup(ended), { timeout: 2_000 }).toEqual([]);
    }
  });

  it('[A6] that leaves another at work does not wait for it, and lets it be', async () => {
    await using folder = await tempFolder();
    const file = join(folder.path, 'pid');
    await shell(`sleep 603 > /dev/null 2>&1 & echo $! > '${file}'`);
    const pid = Number(readFileSync(file, 'utf8'));
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, 'SIGKILL');
  });
});

/** Writes its own id and that of a child of its own, and then does not end. */
function writeSlow(
  place: GitPlace,
  { stubborn = false } = {},
): { readonly program: string; readonly pids: () => number[] } {
  const [program, file] = ['slow', 'pids'].map((name) => join(place.path, '..', name)) as [string, string];
  const lines = [
    '#!/bin/sh',
    stubborn ? "trap '' TERM" : '',
    'sleep 604 &',
    `echo $$ $! > '${file}.tmp'; mv '${file}.tmp' '${file}'`,
    'wait; sleep 604',
  ];
  writeFileSync(program, lines.join('\n'));
  chmodSync(program, 0o755);
  const pids = () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ').map(Number) : []);
  return { program, pids };
}

async function setUp(place: GitPlace, program: string): Promise<void> {
  const folder = join(place.path, '.git', 'hooks');
  mkdirSync(folder, { recursive: true });
  for (const name of ['commit-msg', 'pre-receive', 'pre-push']) {
    writeFileSync(join(folder, name), `#!/bin/sh\nexec '${program}'\n`);
    chmodSync(join(folder, name), 0o755);
  }
  place.git('config', 'gpg.program', program);
  for (const side of ['clean', 'smudge']) place.git('config', `filter.slow.${side}`, `'${program}'`);
  await place.write('.gitattributes', '*.slow filter=slow\n');
  const remote = join(place.path, '..', 'remote.git');
  place.git('init', '--quiet', '--bare', remote);
  place.git('config', 'remote.origin.url', remote);
  place.git('config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*');
  place.git('config', 'branch.main.remote', 'origin');
  place.git('config', 'branch.main.merge', 'refs/heads/main');
}

describe.skipIf(process.platform !== 'linux')(
  "a Forge that is killed while the user's program is at work",
  () => {
    async function killDuring(what: string, how: { readonly stubborn?: boolean } = {}): Promise<number[]> {
      const place = await gitPlace();
      await using _ = place;
      const { program, pids } = writeSlow(place, how);
      await setUp(place, program);
      const worker = spawn(process.execPath, [WORKER, place.path, what], {
        env: { ...process.env, ...place.repo.env },
        stdio: 'inherit',
      });
      const ended = once(worker, 'exit');
      await expect.poll(pids, { timeout: 20_000 }).toHaveLength(2);
      expect(pids().every(isAlive)).toBe(true);
      worker.kill('SIGKILL');
      await ended;
      return pids();
    }

    it.each(['commit-msg', 'pre-receive', 'pre-push', 'signature', 'clean filter', 'smudge filter'])(
      '[A6] takes it along within 2 s, with all that it has started: %s',
      async (what) => {
        const pids = await killDuring(what);
        await expect.poll(() => pids.some(isAlive), { timeout: 2_000 }).toBe(false);
      },
    );

    it('[A6] takes one along that does not listen', async () => {
      const pids = await killDuring('commit-msg', { stubborn: true });
      await expect.poll(() => pids.some(isAlive), { timeout: 2_000 }).toBe(false);
    });

    it('[A6] leaves it behind without the guard', async () => {
      const pids = await killDuring('unguarded');
      try {
        await new Promise((done) => setTimeout(done, 2_000));
        expect(pids.every(isAlive)).toBe(true);
      } finally {
        for (const pid of pids) process.kill(pid, 'SIGKILL');
      }
    });
  },
);
