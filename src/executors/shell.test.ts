import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openProcessHost, type ProcessHost } from '#process/process-host.ts';
import { findSurvivors, startTestRun, textsOf, told } from '../../tests/support/executor-run.ts';
import { tempFolder, type TempFolder } from '../../tests/support/temp-repo.ts';

let processes: ProcessHost;

beforeAll(async () => {
  processes = await openProcessHost({ accept: ['marker'] });
});

type Options = Omit<Parameters<typeof startTestRun>[0], 'processes' | 'cwd' | 'profile'>;

function startShell(folder: TempFolder, script: string, options: Options = {}) {
  const profile = { executor: 'shell', command: ['/bin/sh', '-c', script] };
  return startTestRun({ processes, cwd: folder.path, profile, ...options });
}

describe('the shell executor', () => {
  it('[S232] [S336] runs its command in the checkout with the prompt on standard input and the ids in the environment', async () => {
    await using folder = await tempFolder();
    const run = await startShell(folder, 'pwd; cat; echo "$FORGE_RUN_ID $FORGE_TASK_ID"; echo oops >&2', {
      spec: { prompt: 'Do it\n', env: { PATH: '/usr/bin:/bin', FORGE_TASK_ID: 'fg-a3f8' } },
    });
    expect(await run.end).toMatchObject({ outcome: 'completed', exit_code: 0, survivors: 0 });
    expect(run.entries[0]).toEqual({ kind: 'message', role: 'user', text: 'Do it\n' });
    const output = run.entries.filter((entry) => entry.kind === 'output');
    const linesOf = (from: string): string[] =>
      output.filter(({ stream }) => stream === from).flatMap(({ text }) => text.split('\n'));
    expect(linesOf('stdout')).toEqual([folder.path, 'Do it', `${run.spec.run_id} fg-a3f8`]);
    expect(linesOf('stderr')).toEqual(['oops']);
    expect(run.identities).toHaveLength(1);
  });

  it('gets exactly the environment it was given', async () => {
    await using folder = await tempFolder();
    const run = await startShell(folder, 'env | cut -d= -f1 | sort', {
      spec: { env: { PATH: '/usr/bin:/bin' } },
    });
    await run.end;
    const names = textsOf(run.entries, 'output')
      .flatMap((text) => text.split('\n'))
      .filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name));
    expect(names).toEqual(['FORGE_RUN_ID', 'PATH']);
  });

  it('has failed with any other exit code, with the last line of its errors', async () => {
    await using folder = await tempFolder();
    const run = await startShell(folder, 'echo "rate limit 429 overloaded" >&2; exit 3');
    expect(await run.end).toMatchObject({
      // What a program writes there is no word of a provider.
      outcome: 'failed',
      exit_code: 3,
      message: '/bin/sh ended with exit code 3 before it was done: rate limit 429 overloaded',
    });
  });

  it('has failed when a signal ended it', async () => {
    await using folder = await tempFolder();
    const run = await startShell(folder, 'kill -9 $$');
    expect(await run.end).toMatchObject({
      outcome: 'failed',
      exit_code: null,
      message: '/bin/sh ended with SIGKILL before it was done',
    });
  });

  it('may write to /dev/stdout and /dev/stderr, as scripts do', async () => {
    await using folder = await tempFolder();
    const run = await startShell(folder, 'echo one >/dev/stdout; echo two | tee /dev/stderr');
    expect(await run.end).toMatchObject({ outcome: 'completed', last_message: 'one\ntwo' });
  });

  it('does not mind a prompt that is not read', async () => {
    await using folder = await tempFolder();
    const run = await startShell(folder, 'exit 0', { spec: { prompt: 'x'.repeat(2_000_000) } });
    expect(await run.end).toMatchObject({ outcome: 'completed' });
  });

  it('returns a fenced answer by schema, and asks for it', async () => {
    await using folder = await tempFolder();
    const run = await startShell(
      folder,
      `grep -c 'JSON schema'; echo '\`\`\`json'; echo '{"a":1}'; echo '\`\`\`'`,
      {
        spec: { output_schema: { type: 'object' } },
      },
    );
    expect(await run.end).toMatchObject({ outcome: 'completed', structured: { a: 1 } });
    expect(textsOf(run.entries, 'output')[0]).not.toBe('0');
  });

  it('keeps the end of what was said, and no more of it than is allowed', async () => {
    await using folder = await tempFolder();
    const run = await startShell(
      folder,
      `for i in 1 2 3; do head -c 50000 /dev/zero | tr '\\0' $i; echo; done`,
    );
    const { last_message = '' } = await run.end;
    expect(last_message.length).toBeLessThanOrEqual(65_536);
    expect(last_message).toMatch(/^2+\n3{50000}$/);
  });

  it('says that a line was too long', async () => {
    await using folder = await tempFolder();
    const run = await startShell(folder, `head -c 9000000 /dev/zero | tr '\\0' x; echo; echo after`);
    expect(await run.end).toMatchObject({ outcome: 'completed' });
    expect(textsOf(run.entries, 'note')).toEqual(['The line goes on to 9000000 bytes; it is too long']);
    expect(textsOf(run.entries, 'output').at(-1)).toBe('after');
  });

  it('stops with all it started, once however often it is asked', async () => {
    await using folder = await tempFolder();
    const run = await startShell(
      folder,
      `trap '' TERM; setsid sleep 600 & echo up; while :; do sleep 1; done`,
    );
    await told(run, (entry) => entry.kind === 'output');
    await Promise.all([run.started.stop(), run.started.stop()]);
    await run.started.stop();
    expect(await run.end).toMatchObject({ outcome: 'stopped', survivors: 0 });
    expect(findSurvivors(run.spec.run_id)).toEqual([]);
  });

  it('leaves nothing behind when it ends by itself', async () => {
    await using folder = await tempFolder();
    const run = await startShell(folder, 'setsid sleep 600 & nohup sleep 600 > /dev/null 2>&1 &');
    expect(await run.end).toMatchObject({ outcome: 'completed', survivors: 0 });
    expect(findSurvivors(run.spec.run_id)).toEqual([]);
  });

  it.each([
    [{ total_ms: 200, idle_ms: 60_000, output_bytes: 1_000 }, 'sleep 600', 'timeout', 'took too long'],
    [
      { total_ms: 60_000, idle_ms: 200, output_bytes: 1_000 },
      'sleep 600',
      'timeout',
      'said nothing for too long',
    ],
    [{ total_ms: 60_000, idle_ms: 60_000, output_bytes: 1_000 }, 'yes', 'failed', 'wrote more than it may'],
  ])('is held to %j', async (limits, script, outcome, message) => {
    await using folder = await tempFolder();
    const run = await startShell(folder, script, { spec: { limits } });
    expect(await run.end).toMatchObject({ outcome, message: expect.stringContaining(message) });
  });

  it('takes no further message', async () => {
    await using folder = await tempFolder();
    const run = await startShell(folder, 'cat');
    expect(await run.started.send('more')).toBe(false);
    await run.end;
  });

  it('starts nothing where there is no such program, or no command', async () => {
    await using folder = await tempFolder();
    const start = (command: readonly string[]) =>
      startTestRun({ processes, cwd: folder.path, profile: { executor: 'shell', command } });
    await expect(start(['no-such-program'])).rejects.toMatchObject({ code: 'dependency_missing' });
    await expect(start([])).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

describe('the null executor', () => {
  it('completes at once and starts nothing', async () => {
    await using folder = await tempFolder();
    const run = await startTestRun({ processes, cwd: folder.path, profile: { executor: 'null' } });
    expect(await run.end).toMatchObject({ outcome: 'completed', denials: 0, survivors: 0 });
    expect(run.identities).toEqual([]);
    expect(await run.started.send('x')).toBe(false);
    await run.started.stop();
    expect(existsSync(join(folder.path, 'hello.txt'))).toBe(false);
  });
});
