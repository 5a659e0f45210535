import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { AttemptView, Review } from '#contract/attempt.ts';
import { FORGE, forgeProject, type ForgeProject } from '../support/forge-cli.ts';
import { hasWalls, setWalls, WALLS } from '../support/walls.ts';

let project: ForgeProject;
let sentinel: string;
let listening: Server;
beforeAll(async () => {
  project = await forgeProject();
  sentinel = join(project.home, 'elsewhere');
  mkdirSync(sentinel);
  mkdirSync(join(project.home, '.ssh'));
  writeFileSync(join(project.home, '.ssh/id'), 'key');
  await project.write('README.md', 'first\n');
  project.git('add', '-A');
  project.git('commit', '-qm', 'first');
  await project.run('token', 'create', '--scope', 'admin');
  mkdirSync(join(project.home, '.npm/_npx'), { recursive: true });
  listening = createServer().listen(join(project.home, 'socket'));
  // The attempt of another agent, whose folder stays.
  await project.json(
    'agent',
    'add',
    'other',
    '--executor',
    'shell',
    '--command=bash',
    '--command=-c',
    '--command=echo x > other',
  );
  const other = await project.create('Of another agent');
  await project.run('run', other.id, '--agent', 'other');
});
afterAll(async () => {
  listening.close();
  await project[Symbol.asyncDispose]();
});

/** `HOME` is the person's, `ROOT` the checkout, `OUT` the process that runs the tests. */
const OUT_OF_REACH: readonly string[] = [
  'cat "$FORGE_HOME_OF_TEST"/agents.jsonl',
  'touch "$FORGE_HOME_OF_TEST"/planted',
  'touch ROOT/planted',
  'echo >> ROOT/README.md',
  'touch ROOT/.git/hooks/planted',
  'git -C ROOT config planted.x y',
  'git -C ROOT update-ref refs/heads/planted HEAD',
  'git -C ROOT hash-object -w --stdin < /etc/hostname',
  'touch ROOT/.git/forge/planted',
  'ls ROOT/.git/forge/attempts/*',
  'cat ../*/other',
  'touch "$HOME"/planted',
  'cat "$HOME"/.ssh/id',
  'touch "$HOME"/elsewhere/planted',
  'ls "$HOME"/.npm/_npx',
  "node -e \"require('net').connect('HOMEPATH/socket').on('connect', () => process.exit()).on('error', () => process.exit(1))\"",
];

/** These fail in every namespace of process numbers. */
const PROCESSES: readonly string[] = ['kill -0 OUT', 'cat /proc/OUT/environ'];

/** Only root could do these at all, and only without walls. */
const MOUNTS: readonly string[] = [
  'umount -l "$FORGE_HOME_OF_TEST"',
  'mount -o remount,rw ROOT',
  'mount --bind "$HOME" /mnt',
  'unshare -Urm mount --bind "$HOME" /mnt',
  // The kernel of the machine would run what stands there.
  ': >> /proc/sys/kernel/core_pattern',
  ': >> /proc/sysrq-trigger',
];

const WITHIN_REACH: readonly string[] = [
  'echo work > work',
  'git status && git add -A && git commit -qm mine && git log -1',
  'git -C ROOT log -1',
  'cat ROOT/README.md',
  'touch /tmp/mine /var/tmp/mine /dev/shm/mine && mktemp',
  'ps -e',
  'mkdir -p "$HOME"/.cache/pip',
  'forge task show "$FORGE_TASK_ID"',
  "node -e \"require('net').createServer().listen(0, '127.0.0.1', () => process.exit())\"",
  '[ -z "$XDG_RUNTIME_DIR" ]',
];

const CHURN = `const net = require('net'), fs = require('fs');
  fs.mkdirSync(process.argv[1], { recursive: true });
  (function again(n) {
    const server = net.createServer().listen(process.argv[1] + '/' + n, () =>
      setTimeout(() => server.close(() => again(n + 1)), 3));
  })(0);`;

let tries = 0;
type Where = 'agent' | 'check';

async function readTried(id: string): Promise<string> {
  const [attempt] = await project.json<AttemptView[]>('task', 'attempts', id);
  return readFileSync(join(attempt?.path ?? '', 'tried'), 'utf8');
}

/** Its folder is gone by now. */
async function readCheck(id: string): Promise<string> {
  const [review] = await project.json<Review[]>('task', 'reviews', id);
  return review?.step_results[0]?.output ?? '';
}

/** Runs each command there, and gives those that succeeded. */
async function tryInside(where: Where, commands: readonly string[]): Promise<string[]> {
  const lines = commands.map((command, at) => {
    const filled = command
      .replaceAll('ROOT', `'${project.path}'`)
      .replaceAll('OUT', String(process.pid))
      .replaceAll('HOMEPATH', project.home);
    return `( ${filled} ) > /dev/null 2>&1 && echo ${at} >> tried`;
  });
  // A check that has passed on a tree does not run there again.
  const script = join(project.home, `${where}-${(tries += 1)}.sh`);
  const env = `export FORGE_HOME_OF_TEST='${join(project.home, '.forge')}'`;
  writeFileSync(script, [env, 'echo begun > tried', ...lines, 'cat tried'].join('\n'));
  const quoted = `bash '${script}'`;
  const flags = where === 'check' ? ['--ci-step', quoted] : [];
  const words = where === 'agent' ? ['bash', script] : ['bash', '-c', 'echo work > work'];
  const name = `by-${where}`;
  await project.json(
    'agent',
    'add',
    name,
    '--executor',
    'shell',
    ...words.map((word) => `--command=${word}`),
  );
  const task = await project.create(`Try ${where}`, ...flags);
  await project.run('run', task.id, '--agent', name);
  const said = where === 'check' ? await readCheck(task.id) : await readTried(task.id);
  const [begun, ...tried] = said.trim().split('\n');
  expect(begun).toBe('begun');
  await project.run('task', 'cancel', task.id);
  return tried.map((at) => commands[Number(at)] ?? '');
}

describe.skipIf(!hasWalls)('inside of walls (skipped where bubblewrap is not installed)', () => {
  beforeAll(() => {
    mkdirSync(join(project.home, '.cache'), { recursive: true });
    setWalls(project.home, 'on');
  });

  it.each(['agent', 'check'] as const)('nothing that is the person’s can be reached: %s', async (where) => {
    expect(await tryInside(where, [...OUT_OF_REACH, ...PROCESSES, ...MOUNTS])).toEqual([]);
    expect(readdirSync(sentinel)).toEqual([]);
    expect(project.git('status', '--porcelain')).toBe('');
  });

  it('an agent has what its work needs', async () => {
    expect(await tryInside('agent', WITHIN_REACH)).toEqual(WITHIN_REACH);
  });

  it('a set-up reaches nothing that is the person’s', async () => {
    const before = readFileSync(join(project.path, '.forge/config.json'), 'utf8');
    const setup = `touch '${join(sentinel, 'setup')}' || echo kept out > kept`;
    await project.write(
      '.forge/config.json',
      JSON.stringify({ ...JSON.parse(before), workspace: { setup: [setup] } }),
    );
    await project.json('trust', '--yes');
    const task = await project.create('Set up');
    await project.json(
      'agent',
      'add',
      'plain',
      '--executor',
      'shell',
      '--command=bash',
      '--command=-c',
      '--command=echo x > f',
    );
    await project.run('run', task.id, '--agent', 'plain');
    const [attempt] = await project.json<AttemptView[]>('task', 'attempts', task.id);
    expect(readFileSync(join(attempt?.path ?? '', 'kept'), 'utf8')).toBe('kept out\n');
    expect(readdirSync(sentinel)).toEqual([]);
    await project.write('.forge/config.json', before);
  });

  it('a reviewer cannot write at all, and says what it has to say', async () => {
    const say = `touch here; touch '${sentinel}/review'; ls here '${sentinel}'/* 2>/dev/null && exit 9; echo '{"verdict":"pass","summary":"fine","findings":[]}'`;
    const words = ['bash', '-c', say].map((word) => `--command=${word}`);
    await project.json('agent', 'add', 'critic', '--executor', 'shell', ...words);
    await project.json(
      'agent',
      'add',
      'coder',
      '--executor',
      'shell',
      '--command=bash',
      '--command=-c',
      '--command=echo x > f',
    );
    const task = await project.create('Reviewed');
    await project.json('task', 'assign', task.id, 'reviewer', '--agent', 'critic');
    await project.run('run', task.id, '--agent', 'coder');
    const reviews = await project.json<{ verdict: unknown }[]>('task', 'reviews', task.id);
    expect(reviews.at(-1)).toMatchObject({ status: 'passed', verdict: { verdict: 'pass' } });
  });

  it('what a program does at its next start stays as it was, and its sessions are kept', async () => {
    const own = join(project.home, '.claude');
    mkdirSync(own);
    writeFileSync(join(own, 'settings.json'), '{}');
    const [moved, written, kept] = [
      'mv "$HOME"/.claude/settings.json "$HOME"/.claude/x',
      'echo planted > "$HOME"/.claude/settings.json',
      'mkdir -p "$HOME"/.claude/projects',
    ];
    expect(await tryInside('agent', [moved, written, kept])).toEqual([kept]);
    expect(readFileSync(join(own, 'settings.json'), 'utf8')).toBe('{}');
    expect(existsSync(join(own, 'projects'))).toBe(true);
  });

  it('settings that were missing are set aside when an agent has made them', async () => {
    mkdirSync(join(project.home, '.claude'), { recursive: true });
    const made = 'echo planted > "$HOME"/.claude/statusline.sh';
    expect(await tryInside('agent', [made])).toEqual([made]);
    expect(existsSync(join(project.home, '.claude/statusline.sh'))).toBe(false);
    const aside = readdirSync(join(project.home, '.forge/quarantine'), { recursive: true });
    expect(aside).toContainEqual(expect.stringMatching(/\.claude-statusline\.sh$/));
    const run = (await project.json<{ message: string }[]>('runs', 'list')).at(-1);
    expect(run?.message).toContain('set aside');
  });

  it('they are set aside too where the process that watched the run was killed', async () => {
    const planted = join(project.home, '.claude/planted.sh');
    const words = ['bash', '-c', 'echo planted > "$HOME"/.claude/planted.sh; sleep 60'];
    const flags = ['--executor', 'shell', ...words.map((word) => `--command=${word}`)];
    await project.json('agent', 'add', 'planter', ...flags);
    const { id } = await project.create('Plant');
    const options = { cwd: project.path, env: project.env, stdio: 'ignore' } as const;
    const forge = spawn(process.execPath, [FORGE, 'run', id, '--agent', 'planter'], options);
    const ended = once(forge, 'exit');
    onTestFinished(() => void forge.kill('SIGKILL'));
    await vi.waitUntil(() => existsSync(planted) || forge.exitCode !== null, { timeout: 30_000 });
    forge.kill('SIGKILL');
    await ended;
    expect(existsSync(planted)).toBe(true);
    // The next command settles what the killed one left.
    await project.run('task', 'create', 'Next');
    expect(existsSync(planted)).toBe(false);
    const [run] = await project.json<{ message: string }[]>('runs', 'list', '--task', id);
    expect(run?.message).toContain('set aside');
    await project.run('task', 'cancel', id);
  });

  it('files that the shell had open which started Forge are not open inside', async () => {
    const { id } = await project.create('Open files');
    const words = ['bash', '-c', 'ls /proc/self/fd/ > open; echo x > f'].map((word) => `--command=${word}`);
    await project.json('agent', 'add', 'fds', '--executor', 'shell', ...words);
    await project.bash(`exec 50< '${project.home}' 9< '${project.home}'; forge run ${id} --agent fds`);
    const [attempt] = await project.json<AttemptView[]>('task', 'attempts', id);
    const open = readFileSync(join(attempt?.path ?? '', 'open'), 'utf8')
      .trim()
      .split('\n');
    expect(open.filter((fd) => Number(fd) > 3)).toEqual([]);
  });

  it('stand also while other programs make and remove sockets', async () => {
    const churn = spawn('node', ['-e', CHURN, join(project.home, 'churn')], { stdio: 'ignore' });
    try {
      for (let round = 0; round < 3; round += 1) expect(await tryInside('agent', ['true'])).toEqual(['true']);
    } finally {
      churn.kill('SIGKILL');
    }
  });

  it('a check sees no login of an agent’s program, and what it caches is not the person’s', async () => {
    mkdirSync(join(project.home, '.codex'), { recursive: true });
    writeFileSync(join(project.home, '.codex/auth.json'), 'login');
    const [login, cached] = ['cat "$HOME"/.codex/auth.json', 'touch "$HOME"/.cache/cached'];
    expect(await tryInside('check', [login, cached])).toEqual([cached]);
    expect(existsSync(join(project.home, '.cache/cached'))).toBe(false);
    // Neither that nor what an agent caches is there for the next check; what a set-up has cached before is.
    const agent = ['ls "$HOME"/.cache/cached', 'touch "$HOME"/.cache/poison'];
    expect(await tryInside('agent', agent)).toEqual(agent.slice(1));
    writeFileSync(
      join(project.home, '.forge/settings.json'),
      JSON.stringify({ workspace: { setup: ['echo >> "$HOME"/.cache/made'] } }),
    );
    const looks = ['cached', 'poison', 'made'].map((name) => `ls "$HOME"/.cache/${name}`);
    expect(await tryInside('check', looks)).toEqual(looks.slice(2));
    setWalls(project.home, 'on');
  });

  it('are left out for an agent by a person, and not by an agent', async () => {
    const leave = ['touch "$HOME"/elsewhere/left'];
    expect(await tryInside('agent', leave)).toEqual([]);
    const open = ['agent', 'add', 'by-agent', '--walls', 'off'];
    expect(await project.with({ env: { FORGE_ACTOR: 'by-agent' } }).fails(...open)).toMatchObject({
      exit: 6,
    });
    expect(await project.json(...open)).toMatchObject({ profile: { walls: 'off' } });
    expect(await tryInside('agent', leave)).toEqual(leave);
    expect(await project.text('doctor')).toMatch(
      /warning\s+walls\s+around agents and checks, but for by-agent/,
    );
    await project.json('agent', 'add', 'by-agent', '--walls', 'on');
    expect(await project.text('doctor')).toMatch(/ok\s+walls\s+around agents and checks: they can change/);
  });

  it('are told in the log of the run', async () => {
    const [run] = await project.json<{ id: string }[]>('runs', 'list');
    expect(await project.text('runs', 'logs', run?.id ?? '')).toContain('Inside of walls: they can change');
  });
});

it('without walls the same tries succeed', async () => {
  setWalls(project.home, 'off');
  expect(await tryInside('check', OUT_OF_REACH)).toEqual(OUT_OF_REACH);
  project.git('checkout', '-q', '--', 'README.md');
});

describe('where there is no bubblewrap', () => {
  it('the first run says once what an agent can reach, and doctor says it always', async () => {
    setWalls(project.home, 'on');
    rmSync(join(project.home, '.forge/told'), { recursive: true, force: true });
    const bare = project.with({ env: { FORGE_CONTAINMENT: 'pid_namespace,cgroup,marker' } });
    const task = await project.create('Unwalled');
    await project.json('agent', 'add', 'bare', '--executor', 'shell', '--command=true');
    const [first, second] = [
      await bare.run('run', task.id, '--agent', 'bare'),
      await bare.run('run', task.id, '--agent', 'bare'),
    ];
    expect(first.stderr).toContain('There are no walls around agents on this machine: an agent runs as you');
    expect(second.stderr).not.toContain('walls');
    const { stdout } = await bare.run('doctor');
    expect(stdout).toMatch(/warning\s+walls\s+none: an agent runs as you/);
    expect(stdout).toContain('Install bubblewrap');
    expect(WALLS).toContain('off');
  });
});
