import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openProcessHost, type ProcessHost } from '#process/process-host.ts';
import { findSurvivors, startTestRun, textsOf, told, toTools } from '../../tests/support/executor-run.ts';
import { tempFolder, tempRepo, type TempFolder } from '../../tests/support/temp-repo.ts';
import { createScriptExecutor } from './script.ts';

let processes: ProcessHost;

beforeAll(async () => {
  processes = await openProcessHost({ accept: ['marker'] });
});

type Options = Omit<Parameters<typeof startTestRun>[0], 'processes' | 'cwd' | 'profile'> & {
  permissions?: 'ask' | 'edits' | 'all';
};

/** Plays the steps, from a file beside the checkout. */
async function play(folder: TempFolder, script: object, { permissions = 'edits', ...options }: Options = {}) {
  const file = join(folder.path, '..', 'script.json');
  await folder.write('../script.json', JSON.stringify(script));
  const profile = { executor: 'script', command: [file], permissions };
  return startTestRun({ processes, cwd: folder.path, profile, ...options });
}

describe('the script executor', () => {
  it('does what the steps say, in order', async () => {
    await using repo = await tempRepo();
    await repo.write('old.txt', 'old');
    const run = await play(repo, {
      steps: [
        { think: 'what to do' },
        { say: 'I begin' },
        { write: { path: 'src/a.txt', text: 'one\n' } },
        { append: { path: 'src/a.txt', text: 'two\n' } },
        { delete: { path: 'old.txt' } },
        { tool: { tool: 'Grep', input: { pattern: 'x' }, output: 'nothing' } },
        { run: ['cat', 'src/a.txt'] },
        { commit: 'Add a' },
        { usage: { input_tokens: 10, output_tokens: 5, cost_usd: 0.1 } },
        { answer: { verdict: 'pass' } },
        { say: 'I am done' },
      ],
    });
    expect(await run.end).toMatchObject({
      outcome: 'completed',
      exit_code: 0,
      denials: 0,
      usage: { input_tokens: 10, output_tokens: 5, cached_tokens: null, cost: { usd: 0.1, of: 'run' } },
      structured: { verdict: 'pass' },
      last_message: 'I am done',
    });
    expect(await repo.read('src/a.txt')).toBe('one\ntwo\n');
    expect(existsSync(join(repo.path, 'old.txt'))).toBe(false);
    expect(repo.git('log', '--format=%s')).toBe('Add a');
    expect(run.entries.flatMap((entry) => (entry.kind === 'tool_call' ? [entry.tool] : []))).toEqual([
      'write',
      'append',
      'delete',
      'Grep',
      'run',
      'commit',
      'commit',
    ]);
    expect(textsOf(run.entries, 'tool_result')).toContain('one\ntwo\n');
    expect(run.identities).toHaveLength(1);
  });

  it('leaves the step out whose question was refused', async () => {
    await using folder = await tempFolder();
    const steps = [
      { ask: { tool: 'Bash', input: { command: 'rm -rf /' }, kind: 'execute' } },
      { write: { path: 'after.txt', text: 'x' } },
    ];
    const refused = await play(folder, { steps });
    expect(await refused.end).toMatchObject({ outcome: 'denied', denials: 1 });
    expect(existsSync(join(folder.path, 'after.txt'))).toBe(false);
    const allowed = await play(
      folder,
      { steps },
      { host: { approve: async () => ({ decision: 'allowed' }) } },
    );
    expect(await allowed.end).toMatchObject({ outcome: 'completed', denials: 0 });
    expect(existsSync(join(folder.path, 'after.txt'))).toBe(true);
    const edit = await play(folder, { steps: [{ ask: { tool: 'Write', input: { path: 'b.txt' } } }] });
    expect(await edit.end).toMatchObject({ outcome: 'completed' });
    expect(edit.asked).toEqual([]);
  });

  it.each(['../outside.txt', '/tmp/forge-script-outside.txt', 'link/outside.txt'])(
    'writes nothing outside of the checkout: %s',
    async (path) => {
      await using folder = await tempFolder();
      symlinkSync('..', join(folder.path, 'link'));
      const run = await play(folder, { steps: [{ write: { path, text: 'x' } }, { say: 'not reached' }] });
      expect(await run.end).toMatchObject({
        outcome: 'failed',
        exit_code: 1,
        message: `${path} is outside of the checkout`,
      });
      expect(existsSync(join(folder.path, '..', 'outside.txt'))).toBe(false);
      expect(existsSync('/tmp/forge-script-outside.txt')).toBe(false);
    },
  );

  it('plays the trajectory that fits the task and the prompt', async () => {
    await using folder = await tempFolder();
    const script = {
      trajectories: [
        { task: 'fg-aaaa', match: 'CI failed', steps: [{ say: 'repaired' }] },
        { task: 'fg-aaaa', steps: [{ say: 'first try' }] },
        { steps: [{ say: 'any other' }] },
      ],
    };
    const said = async (task: string, prompt: string) => {
      const env = { PATH: process.env['PATH'] ?? '', FORGE_TASK_ID: task };
      const run = await play(folder, script, { spec: { prompt, env } });
      return (await run.end).last_message;
    };
    expect(await said('fg-aaaa', 'Do it')).toBe('first try');
    expect(await said('fg-aaaa', 'CI failed: see the log')).toBe('repaired');
    expect(await said('fg-bbbb', 'CI failed')).toBe('any other');
  });

  it.each([
    [{ fail: 'it is too hard' }, { outcome: 'failed', message: 'it is too hard', exit_code: 1 }],
    [{ fail: 'usage limit reached' }, { outcome: 'failed' }],
    [
      { fail: { message: 'come back later', type: 'usage_limit' } },
      { outcome: 'usage_limit', retry_after: '2026-01-01T00:15:00.000Z' },
    ],
    [{ fail: { message: 'no key', type: 'authentication' } }, { outcome: 'auth' }],
    [
      { exit: 7 },
      { outcome: 'failed', exit_code: 7, message: 'script ended with exit code 7 before it was done' },
    ],
    [{ exit: 0 }, { outcome: 'failed', exit_code: 0 }],
    [{ run: ['no-such-program'] }, { outcome: 'failed', exit_code: 1 }],
  ])('ends with %j as it says', async (step, end) => {
    await using folder = await tempFolder();
    const run = await play(folder, { steps: [step, { write: { path: 'a', text: '' } }] });
    expect(await run.end).toMatchObject(end);
    expect(existsSync(join(folder.path, 'a'))).toBe(false);
  });

  it('is stopped in the middle, with what it has started', async () => {
    await using folder = await tempFolder();
    const run = await play(folder, { steps: [{ say: 'on it' }, { run: ['sh', '-c', 'setsid sleep 600'] }] });
    await told(run, (entry) => entry.kind === 'tool_call');
    await run.started.stop();
    expect(await run.end).toMatchObject({ outcome: 'stopped', survivors: 0 });
    expect(findSurvivors(run.spec.run_id)).toEqual([]);
  });

  it('sleeps', async () => {
    await using folder = await tempFolder();
    const run = await play(folder, { steps: [{ sleep_ms: 20 }, { say: 'awake' }] });
    expect(await run.end).toMatchObject({ outcome: 'completed', last_message: 'awake' });
  });

  it.each([
    ['{', 'is not valid JSON'],
    ['{"trajectories": []}', 'holds no trajectory'],
    ['{}', 'has no steps in trajectory 1'],
    ['{"steps": [{"dance": true}]}', 'step 1: there is no step dance'],
    ['{"steps": [{"say": "a"}, {"write": {"path": "a"}}]}', 'step 2: write does not have what it needs'],
    ['{"steps": [{"say": "a", "think": "b"}]}', 'a step has exactly one key'],
    ['{"steps": [{"run": "rm -rf /"}]}', 'run does not have what it needs'],
  ])('refuses %s before anything runs', async (text, message) => {
    await using folder = await tempFolder();
    await folder.write('script.json', text);
    const profile = { executor: 'script', command: ['script.json'] };
    const started = startTestRun({ processes, cwd: folder.path, profile });
    await expect(started).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(message),
    });
  });

  it('refuses a script that is not there, is too long, or has nothing for the task', async () => {
    await using folder = await tempFolder();
    await folder.write('script.json', '{"trajectories": [{"task": "fg-zzzz", "steps": []}]}');
    const run = await startTestRun({ processes, cwd: folder.path, profile: { executor: 'null' } });
    const start = (file: string, bytes?: number) => {
      const profile = { executor: 'script', command: [file], permissions: 'edits' as const };
      const executor = createScriptExecutor(toTools(processes), bytes === undefined ? undefined : { bytes });
      return executor.start({ ...run.spec, profile }, NO_HOST);
    };
    await expect(start('gone.json')).rejects.toMatchObject({ code: 'not_found' });
    await expect(start('script.json')).rejects.toMatchObject({ code: 'not_found' });
    await expect(start('script.json', 10)).rejects.toMatchObject({ code: 'too_large' });
  });
});

const NO_HOST = {
  noteUsage: () => {},
  tell: () => {},
  noteSession: () => {},
  noteProcess: async () => {},
  approve: async () => ({ decision: 'denied' as const }),
};
