import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { listRunning, newSleep } from '#process/run-behaviour.ts';
import { crashProject, readRows, setUp } from '../support/crash-runs.ts';
import { FORGE, type ForgeProject } from '../support/forge-cli.ts';
import { shareOf } from '../support/share-of.ts';

/** So long after its watcher at most. */
const OUTLIVES_MS = 2_000;

let project: ForgeProject;
beforeAll(async () => {
  project = await crashProject();
});
afterAll(() => project[Symbol.asyncDispose]());

/** Does not hear a signal, and has children that gave up their session and their environment. */
const deaf = (time: string): string =>
  `trap "" TERM HUP INT; (env -i setsid sleep ${time} &); setsid sleep ${time} & echo begun > x; sleep ${time}; sleep ${time}`;

const polite = (time: string): string => `(env -i setsid sleep ${time} &); sleep ${time} & sleep ${time}`;

interface AtWork {
  readonly forge: ChildProcess;
  readonly ended: Promise<unknown[]>;
  readonly told: () => string;
  readonly id: string;
  readonly time: string;
}

/** A command with an agent at work on a task of its own. */
async function startWork(
  command: readonly string[],
  {
    script = deaf,
    env = {},
    through = [],
  }: { script?: (time: string) => string; env?: Record<string, string>; through?: readonly string[] } = {},
): Promise<AtWork> {
  const time = newSleep();
  const name = `w${time.slice(4)}`;
  const words = ['bash', '-c', script(time)].map((word) => `--command=${word}`);
  await project.text('agent', 'add', name, '--executor', 'shell', ...words);
  // A server takes whoever is free.
  await project.run('agent', 'pause', 'w1');
  onTestFinished(async () => {
    await project.run('agent', 'remove', name);
    await project.run('agent', 'resume', 'w1');
  });
  const { id } = await project.create('Long');
  const args = [FORGE, ...command.map((word) => ({ ID: id, AGENT: name })[word] ?? word)];
  const [program = '', ...rest] = [...through, process.execPath, ...args];
  const forge = spawn(program, rest, {
    cwd: project.path,
    env: { ...project.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let told = '';
  forge.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
  const ended = once(forge, 'exit');
  onTestFinished(async () => {
    forge.kill('SIGKILL');
    await ended;
  });
  await vi.waitUntil(() => listRunning(time).length >= 3 || forge.exitCode !== null, {
    timeout: 30_000,
    interval: 50,
  });
  expect({ exit: forge.exitCode, told }).toMatchObject({ exit: null });
  return { forge, ended, told: () => told, id, time };
}

/** Nothing is left of it so soon. */
async function expectGone({ time }: AtWork, within = OUTLIVES_MS): Promise<void> {
  await vi
    .waitUntil(() => listRunning(time).length === 0, { timeout: within, interval: 20 })
    .catch(() => undefined);
  expect(listRunning(time)).toEqual([]);
}

/** Ends what waits for an agent: the next test has the queue for itself. */
async function giveUp({ id }: AtWork): Promise<void> {
  await project.run('task', 'cancel', id, '--reason', 'over');
}

const COMMANDS = [
  ['forge run', ['run', 'ID', '--agent', 'AGENT']],
  ['forge dispatch', ['dispatch', '--agent', 'AGENT']],
  ['forge serve', ['serve', '--port', '0', '--dispatch']],
] as const;

describe.skipIf(process.platform !== 'linux').each(shareOf(COMMANDS, 3))('[A11] %s', (_name, command) => {
  it('killed takes its agents with it', async () => {
    const work = await startWork(command);
    work.forge.kill('SIGKILL');
    await work.ended;
    await expectGone(work);
    await giveUp(work);
  });

  it('told twice to stop kills them and leaves at once', async () => {
    const work = await startWork(command);
    work.forge.kill('SIGINT');
    await sleep(300);
    // Planted: the agent does not hear the first.
    expect(listRunning(work.time).length).toBeGreaterThan(0);
    work.forge.kill('SIGINT');
    const [code] = await work.ended;
    expect(code).toBe(130);
    await expectGone(work);
    await giveUp(work);
  });

  it('ends them in peace when its terminal is gone', async () => {
    const work = await startWork(command, { script: polite });
    work.forge.kill('SIGHUP');
    await work.ended;
    await expectGone(work, 100);
    await giveUp(work);
  });
});

const hasScript = existsSync('/usr/bin/script');

describe.skipIf(process.platform !== 'linux' || !hasScript)('[A11] a terminal that is closed', () => {
  it('takes an agent of forge run with it that hears nothing', async () => {
    const { id } = await project.create('Long');
    const time = newSleep();
    const words = ['bash', '-c', deaf(time)].map((word) => `--command=${word}`);
    await project.text('agent', 'add', 'tty', '--executor', 'shell', ...words);
    const command = `${process.execPath} ${FORGE} run ${id} --agent tty`;
    const terminal = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], {
      cwd: project.path,
      env: { ...project.env, TERM: 'xterm' },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const ended = once(terminal, 'exit');
    await vi.waitUntil(() => listRunning(time).length >= 3, { timeout: 30_000, interval: 50 });
    terminal.kill('SIGKILL');
    await ended;
    // It hears SIGHUP, and gives the agent its time to end.
    await expectGone({ time } as AtWork, 9_000);
    await project.run('task', 'cancel', id, '--reason', 'over');
  });
});

interface Look {
  readonly command: readonly string[];
  /** What must stand in its answer, and what must not. */
  readonly says?: RegExp;
  readonly not?: RegExp;
  /** Where the task is afterwards, if not back in its queue. */
  readonly state?: string;
}

/** Every command that looks at tasks, runs or folders. */
const LOOKS: readonly Look[] = [
  { command: ['runs', 'list'], says: /failed \(crashed\)/, not: / running / },
  { command: ['runs', 'list', '--open', '--json'], not: /ID/ },
  { command: ['runs', 'show', 'RUN'], says: /It lost its watcher: process PID on .* is gone/ },
  { command: ['runs', 'logs', 'RUN'] },
  { command: ['task', 'show', 'ID'], says: /open \(todo\)[^]*lost its watcher/ },
  { command: ['task', 'list'], says: /ID/ },
  { command: ['task', 'attempts', 'ID'] },
  { command: ['ready'], says: /ID/ },
  { command: ['ready', '--json'], says: /ID/ },
  { command: ['stats'], not: /in_progress/ },
  { command: ['doctor'], says: /runs +none is at work/ },
  { command: ['status'], says: /At work +nothing/, not: /ID/ },
  { command: ['inbox'], says: /lost its watcher[^]*forge run ID --agent/ },
  { command: ['claim', '--next'], says: /Claimed task/, state: 'in_progress' },
  { command: ['workspace', 'list'], not: /at work/ },
  { command: ['prime'] },
];

describe.skipIf(process.platform !== 'linux')('[A11] a run whose watcher is gone', () => {
  it.each(
    shareOf(
      LOOKS.map((look) => ({ ...look, name: look.command.join(' ') })),
      4,
    ),
  )(
    'is told and settled by forge $name',
    async ({ command, says = /(?:)/, not = /^\b$/, state = 'todo' }) => {
      const work = await startWork(['run', 'ID', '--agent', 'AGENT']);
      work.forge.kill('SIGKILL');
      await work.ended;
      const [run] = readRows(project, work.id).runs;
      expect(run?.state).toBe('running');
      const names = { ID: work.id, RUN: run?.id ?? '', PID: String(work.forge.pid) };
      const fill = (text: string): string =>
        text.replaceAll(/\b(?:ID|RUN|PID)\b/g, (name) => names[name as keyof typeof names]);
      const { stdout, stderr } = await project.run(...command.map(fill));
      const lost = `Run ${names.RUN.slice(0, 8)} of w\\d+ on ID lost its watcher \\(process PID is gone\\): failed; ID is in todo`;
      expect(stderr).toMatch(new RegExp(fill(lost)));
      expect(stdout).toMatch(new RegExp(fill(says.source)));
      expect(stdout).not.toMatch(new RegExp(fill(not.source)));
      expect(readRows(project, work.id)).toMatchObject({ state, open: 0 });
      const shown = await project.json<{ message: string }>('runs', 'show', names.RUN);
      expect(shown.message).toContain(`It lost its watcher: process ${names.PID}`);
      // It is told once.
      expect((await project.run('runs', 'list')).stderr).toBe('');
      await giveUp(work);
    },
  );

  it('is not judged where its watcher is on another machine', async () => {
    const work = await startWork(['run', 'ID', '--agent', 'AGENT']);
    work.forge.kill('SIGKILL');
    await work.ended;
    const db = project.openDatabase();
    db.exec(
      `UPDATE runs SET watcher = json_set(watcher, '$.host', 'elsewhere') WHERE ended_at IS NULL;
       UPDATE task_watchers SET watcher = json_set(watcher, '$.host', 'elsewhere') WHERE task_id = '${work.id}'`,
    );
    db.close();
    expect((await project.run('runs', 'list')).stderr).toBe('');
    expect(readRows(project, work.id)).toMatchObject({ state: 'in_progress', open: 1 });
    using again = project.openDatabase();
    again.exec(
      `UPDATE runs SET watcher = json_set(watcher, '$.host', '${(await import('node:os')).hostname()}') WHERE ended_at IS NULL;
       UPDATE task_watchers SET watcher = json_set(watcher, '$.host', '${(await import('node:os')).hostname()}') WHERE task_id = '${work.id}'`,
    );
    expect((await project.run('runs', 'list')).stderr).toContain('lost its watcher');
    await giveUp(work);
  });

  it('is ended from another control group and session, where its guard is gone too', async (context) => {
    const group = makeGroup();
    if (group === undefined) return context.skip('no control group can be made here');
    try {
      const work = await startWork(['run', 'ID', '--agent', 'AGENT'], {
        env: { FORGE_CONTAINMENT: 'cgroup' },
      });
      const guard = findChild(work.forge.pid ?? 0, 'forge-guard');
      process.kill(guard, 'SIGKILL');
      work.forge.kill('SIGKILL');
      await work.ended;
      await sleep(200);
      // Planted: nobody is there who would have ended it.
      expect(listRunning(work.time).length).toBeGreaterThanOrEqual(3);
      const groups = [...new Set(listRunning(work.time).map(groupOf))];
      expect(groups).toEqual([expect.stringMatching(/forge-[0-9a-f]+$/)]);
      expect(groups.filter((one) => existsSync(one))).toEqual(groups);
      const enter = `echo 0 > ${group}/cgroup.procs; exec setsid -w ${process.execPath} ${FORGE} runs list`;
      const { stderr } = await project.bash(enter);
      expect(stderr).toContain('lost its watcher');
      expect(listRunning(work.time)).toEqual([]);
      expect(groups.filter((one) => existsSync(one))).toEqual([]);
      await giveUp(work);
    } finally {
      await vi.waitUntil(() => tryRemove(group), { timeout: 5_000 }).catch(() => undefined);
    }
  });
});

describe.skipIf(process.platform !== 'linux')('[A11] checks and set-up', () => {
  it.each([
    ['a check', { ci: true }],
    ['a set-up', { ci: false }],
  ])('%s ends with forge run', async (_name, { ci }) => {
    const time = newSleep();
    const step = `(env -i setsid sleep ${time} &) ; trap "" TERM; sleep ${time}; true`;
    await setUp(project, {
      merge: { target: 'main' },
      workspace: { ports: 0, ...(ci ? {} : { setup: [step] }) },
    });
    const { id } = await project.create('Checked', ...(ci ? ['--ci-step', step] : []));
    const forge = spawn(process.execPath, [FORGE, 'run', id, '--agent', 'w1', '--merge'], {
      cwd: project.path,
      env: project.env,
      stdio: 'ignore',
    });
    const ended = once(forge, 'exit');
    try {
      await vi.waitUntil(() => listRunning(time).length >= 2, { timeout: 30_000, interval: 50 });
    } finally {
      forge.kill('SIGKILL');
      await ended;
      await setUp(project, { merge: { target: 'main' }, workspace: { ports: 0 } });
    }
    await expectGone({ time } as AtWork);
    await project.run('task', 'cancel', id, '--reason', 'over');
  });
});

const MOUNT = /^\S+ (\S+) cgroup2 /m.exec(readOrEmpty('/proc/mounts'))?.[1];

function makeGroup(): string | undefined {
  if (MOUNT === undefined) return undefined;
  const folder = `${MOUNT}/test-${process.pid}-${Date.now()}`;
  try {
    mkdirSync(folder);
    return folder;
  } catch {
    return undefined;
  }
}

function tryRemove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return !existsSync(folder);
  }
}

function groupOf(pid: string): string {
  return `${MOUNT}${/^0::(.*)$/m.exec(readOrEmpty(`/proc/${pid}/cgroup`))?.[1] ?? ''}`;
}

function findChild(parent: number, word: string): number {
  const pid = readdirSync('/proc').find((one) => {
    const words = readOrEmpty(`/proc/${one}/cmdline`).split('\0');
    return (
      words.includes(word) && new RegExp(`^PPid:\\s+${parent}$`, 'm').test(readOrEmpty(`/proc/${one}/status`))
    );
  });
  expect(pid).toBeDefined();
  return Number(pid);
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
