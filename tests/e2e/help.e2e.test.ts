import { spawnSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import type { Declaration } from '#contract/declare.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { systemClock } from '#kernel/clock.ts';
import { readOwnIdentity } from '#process/process-identity.ts';
import { openStore } from '#store/open-store.ts';
import { forgeProject, type ProgramResult, type RunOptions } from '../support/forge-cli.ts';
import { noteUnwalled } from '../support/note-unwalled.ts';
import { forgeFolderHere, forgeProjectHere } from '../support/forge-here.ts';
import { shareOf } from '../support/share-of.ts';
import { runTestGit } from '../support/temp-repo.ts';

const place = await forgeFolderHere();
afterAll(() => place[Symbol.asyncDispose]());

/** Of so many rows of a table one is shown by the program too; the others only by its parts, in this process. */
const BY_PROGRAM = 24;

describe('help', () => {
  it.each(OPERATIONS.map(({ cli }, at) => [cli.path.join(' '), at] as const))(
    'forge %s --help has usage, flags and examples',
    async (name, at) => {
      const declaration = find(name);
      const { path, alias, examples, args = [] } = declaration.cli;
      const text = await place.text(...path, '--help');
      expect(text).toMatch(new RegExp(`^Usage: forge ${name}\\b`));
      expect(text.replaceAll(/\s+/g, ' ')).toContain(declaration.summary);
      expect(text).toMatch(/\nExamples:\n( {2}\S.*\n?)+$/);
      expect(text.slice(text.indexOf('\nExamples:\n') + 11).split('\n')).toEqual(
        examples.map((one) => `  ${one}`),
      );
      for (const arg of args) expect(text).toContain(arg.replaceAll('_', '-'));
      for (const flag of ['--json', '--fields', '--actor', '-C, --directory', '--quiet', '-h, --help'])
        expect(text).toContain(flag);
      for (const line of text.slice(0, text.indexOf('\nExamples:\n')).split('\n'))
        expect(line.length).toBeLessThanOrEqual(80);
      const again = alias === undefined ? text : await place.text(...alias, '--help');
      expect(again).toBe(text);
      const byProgram = at % BY_PROGRAM === 0 ? await place.program.text(...path, '--help') : text;
      expect(byProgram).toBe(text);
    },
  );

  it('is the same by `help`, by -h, and wherever the flag stands', async () => {
    const [flag, word, short, late] = await Promise.all([
      place.text('task', 'close', '--help'),
      place.program.text('help', 'task', 'close'),
      place.text('task', '-h', 'close'),
      place.text('task', 'close', 'fg-a3f8', '--reason', '--help'),
    ]);
    expect([word, late]).toEqual([flag, flag]);
    expect(short).toMatch(/^Usage: forge task <command>/);
  });

  it('of forge itself names every command once, with its summary', async () => {
    const [bare, flag, word] = await Promise.all([
      place.program.text(),
      place.text('--help'),
      place.text('help'),
    ]);
    expect([flag, word]).toEqual([bare, bare]);
    const flat = bare.replaceAll(/\s+/g, ' ');
    for (const { cli, summary } of OPERATIONS) {
      expect(bare).toMatch(new RegExp(`^ {2}${(cli.alias ?? cli.path).join(' ')}\\b`, 'm'));
      expect(flat).toContain(summary);
    }
    for (const line of bare.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(await place.text('task')).toBe(await place.text('task', '--help'));
  });

  it.each([
    ['tsak', 'Unknown command: forge tsak; did you mean forge task?', 'forge --help'],
    ['task creat', 'Unknown command: forge task creat; did you mean forge task create?', 'forge task --help'],
    ['create', 'Unknown command: forge create; did you mean forge task create?', 'forge --help'],
    ['list', 'Unknown command: forge list; did you mean forge task list?', 'forge --help'],
    ['task ready', 'Unknown command: forge task ready; did you mean forge ready?', 'forge task --help'],
    ['dep rm', 'Unknown command: forge dep rm', 'forge dep --help'],
    ['help nonsense', 'Unknown command: forge nonsense', 'forge --help'],
    ['ready --lable x', 'Unknown flag --lable; did you mean --label?', 'forge ready --help'],
    [
      '--priority 1 task create x',
      'Unknown flag --priority before the command (its own flags stand behind it)',
      'forge --help',
    ],
  ])('forge %s: %s', async (command, message, hint) => {
    expect(await place.fails(...command.split(' '))).toMatchObject({
      exit: 2,
      error: { code: 'usage', message, hint },
    });
  });
});

/** A process or more for each of them with FORGE_ALL_EXAMPLES=1; otherwise only for those that need a shell. */
const ALL_BY_SHELL = process.env['FORGE_ALL_EXAMPLES'] !== undefined;

/** Their examples make repositories and worktrees, or have agents at work: one of them is enough for `npm test`. */
const SLOW = new Set([
  'project.init',
  'run.start',
  'workspace.open',
  'dispatch',
  'attempt.start',
  'task.review',
]);

describe('the examples of the help', () => {
  // That of the demo is run by the test of places, which wants more of it.
  const run = OPERATIONS.filter(({ name }) => name !== 'project.demo');
  const rows = run.map(({ name }, at) => [name, at] as const);
  const slow = rows.filter(([name]) => SLOW.has(name));
  const quick = rows.filter(([name]) => !SLOW.has(name));
  it.each([...quick, ...shareOf(slow, slow.length)])('of %s run as they stand', async (name, at) => {
    const declaration = run.find((one) => one.name === name);
    const results: [string, number, string][] = [];
    for (const [nth, example] of declaration?.cli.examples.entries() ?? []) {
      const byShell = ALL_BY_SHELL || (nth === 0 && at % BY_PROGRAM === 0);
      const folder = await makeFolder(name, example, declaration?.access === 'read');
      const { exit, stderr } = await runExample(name, example, { folder, byShell });
      results.push([example, exit, stderr]);
    }
    expect(results).toEqual(results.map(([example]) => [example, 0, '']));
  });
});

describe('the program', () => {
  it('forge-ctl is the same program, and by that name always asks a server', async () => {
    await using project = await forgeProject();
    const env = { FORGE_SERVER: 'http://127.0.0.1:1' };
    const told = await project.bash('forge-ctl --version && forge-ctl ready', { env });
    expect(told).toMatchObject({ exit: 1, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string });
    expect(told.stderr).toContain('No answer from http://127.0.0.1:1: nothing listens there');
  });

  it('--version is the version of the package, alone and as JSON, in any folder', async () => {
    const { default: manifest } = (await import('../../package.json', { with: { type: 'json' } })) as {
      default: { version: string };
    };
    expect(await place.program.text('--version')).toBe(manifest.version);
    expect(await place.program.run('--version', '--json')).toEqual({
      exit: 0,
      stdout: `{"version":"${manifest.version}"}\n`,
      stderr: '',
    });
    expect(await place.program.text('--json', '--version')).toBe(`{"version":"${manifest.version}"}`);
  });

  const installed = ['bash', 'zsh', 'fish'].filter((shell) => spawnSync(shell, ['-c', 'true']).status === 0);
  it.each(installed)('the completion script for %s is one that the shell can read', async (shell) => {
    const script = await place.text('completion', shell);
    for (const { cli } of OPERATIONS) expect(script).toContain(cli.path.at(-1));
    await place.write(`completion.${shell}`, script);
    const { status, stderr } = spawnSync(shell, ['-n', join(place.path, `completion.${shell}`)], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

/** A token with the id of the examples. */
const KNOWN_TOKEN = `mkdir -p "$FORGE_HOME" && echo '${JSON.stringify({
  id: '4f1c09a2b7de',
  name: 'reader',
  scope: 'read',
  user: 'reader',
  created_at: '2026-01-01T00:00:00.000Z',
  hash: '0'.repeat(64),
})}' > "$FORGE_HOME/tokens.jsonl"`;

/** Starts a server, waits until it says that it is there, and ends it as a terminal does. */
function untilReady(example: string): string {
  return [
    `${example} > ready &`,
    'for _ in $(seq 200); do [ -s ready ] && break; sleep 0.1; done',
    'kill -TERM $! && wait $!',
  ].join('\n');
}

const WITHOUT_REVIEW = JSON.stringify({
  states: [
    { name: 'backlog', kind: 'backlog', next: ['todo'] },
    { name: 'todo', kind: 'initial', next: ['in_progress'] },
    { name: 'in_progress', kind: 'active', next: ['done', 'todo'] },
    { name: 'done', kind: 'terminal' },
    { name: 'cancelled', kind: 'terminal' },
  ],
});

/** A server that ends with the shell, for a command that is sent to one. */
const SERVED = [
  'forge serve --port 0 --json > ready & server=$!',
  "trap 'kill $server' EXIT",
  'until [ -s ready ]; do sleep 0.1; done',
  `export FORGE_SERVER=$(cut -d'"' -f4 ready)`,
].join('\n');

/** What goes on for as long as somebody listens, on the streams of its process, or needs somebody who does. */
const AROUND: Readonly<Record<string, (example: string) => string>> = {
  'server.run': untilReady,
  'mcp.serve': (example) => example,
  'attempt.start': (example) => `${SERVED}\n${example}`,
};

function toShellAgent(name: string): string {
  return `forge agent add ${name} --executor shell --command sh --command=-c '--command=echo x > $FORGE_TASK_ID'`;
}

/** Written into the store: no command does it. */
function toSql(text: string): string {
  const open = 'new (require("node:sqlite").DatabaseSync)(".git/forge/forge.db")';
  return `node -e '${open}.exec(process.argv[1])' "${text}"`;
}
const RUN_ENDED = toSql("UPDATE runs SET state = 'failed', ended_at = created_at");
/** Its watcher was a process of this machine. */
const RUN_LOST = toSql(
  `UPDATE runs SET watcher = json_set(watcher, '$.host', '${hostname()}', '$.start_time', 1)`,
);

/** What must have happened before the examples of an operation, or one of them, make sense. */
const BEFORE: Readonly<Record<string, string>> = {
  'task.reopen': 'forge task close fg-a3f8 --reason done',
  'task.restore': 'forge task delete fg-a3f8',
  'task.release': 'forge claim fg-a3f8',
  'forge task wait fg-a3f8': 'forge task close fg-a3f8 --reason done',
  'forge task wait fg-a3f8 --state in_progress --timeout 600': 'forge claim fg-a3f8',
  'forge task wait fg-a3f8 --event task.commented --after 0 --json': 'forge task comment fg-a3f8 seen',
  'forge workflow validate draft.json': 'echo {} > draft.json',
  'forge workflow set draft.json': 'echo {} > draft.json',
  'forge workflow set draft.json --map review=in_progress': `echo '${WITHOUT_REVIEW}' > draft.json`,
  'dep.add': 'forge project add ../backend',
  'project.remove': 'forge project add ../backend',
  'agent.remove': 'forge agent add worker-1',
  'agent.show': 'forge agent add worker-1',
  'agent.pause': 'forge agent add worker-1',
  'agent.resume': 'forge agent add worker-1',
  'task.assign': 'export FORGE_ACTOR=user:reader && forge agent add worker-2',
  // What an agent sets waits for a person, and trust is for a person to give.
  'forge task create "Limit the rate" --ci-step "npm test" --ci-step "npm run lint"':
    'export FORGE_ACTOR=user:reader',
  'forge task update fg-a3f8 --ci-step "cargo test -p api"': 'export FORGE_ACTOR=user:reader',
  'project.trust': 'export FORGE_ACTOR=user:reader',
  'forge agent add cheap --profile local --env API_KEY=abc123': 'forge profile add local --executor claude',
  'profile.show': 'forge profile add careful --executor claude',
  'profile.remove': 'forge profile add careful --executor claude',
  'task.heartbeat': 'forge claim fg-a3f8 --lease 60',
  // By the holder of the role, on work that waits for it.
  'task.review': [
    'export FORGE_ACTOR=user:reader',
    'forge task assign fg-a3f8 reviewer --user reader',
    'forge task transition fg-a3f8 in_progress',
    'forge task transition fg-a3f8 review',
  ].join(' && '),
  'token.rotate': KNOWN_TOKEN,
  'token.revoke': KNOWN_TOKEN,
  // It goes on until it is told to stop; another server may have the usual port.
  'server.run': 'export FORGE_PORT=0',
  'batch.create': 'forge project add ../backend',
  'batch.add': 'forge project add ../backend && forge batch create release-2',
  'batch.show': 'forge batch create release-2 fg-a3f8',
  'batch.close': 'forge batch create release-2',
  'project.init': 'git config user.name Reader && git config user.email reader@example.com',
  'forge init --upgrade': 'forge init --stealth',
  'forge import ../other/tasks.jsonl --dry-run': 'mkdir -p ../other && touch ../other/tasks.jsonl',
  'forge import --ref origin/main':
    'forge export && git add . && git commit -m first && git update-ref refs/remotes/origin/main HEAD',
  'forge import --from beads ../old/.beads':
    'mkdir -p ../old/.beads && echo \'{"id":"bd-1","title":"From elsewhere"}\' > ../old/.beads/issues.jsonl',
  // Here and in the file somebody changed the title without knowing of the other.
  'conflict.resolve':
    'forge export && forge task update fg-a3f8 --title Mine && sed -i s/An.example/Theirs/ .forge/tasks.jsonl && forge ready',
  'workspace.open': 'git commit --no-verify --allow-empty -m first',
  'forge workspace open fg-a3f8 --attempt 2': [
    toShellAgent('claude'),
    toShellAgent('worker-1'),
    // It ends with 1: somebody has to pick one.
    'forge run fg-a3f8 --agent claude --agent worker-1 --attempts 2 > run.log || true',
  ].join(' && '),
  'forge workspace rescue 35a4 --restore saved':
    'git commit --no-verify --allow-empty -m first && git update-ref refs/forge/rescue/35a40000-0000-4000-8000-000000000001/1 HEAD',
  worktree:
    'forge project add ../backend && git -C ../backend -c user.name=x -c user.email=x@x commit --no-verify --allow-empty -m first',
  'run.start': `export FORGE_ACTOR=user:reader && git commit --no-verify --allow-empty -m first && ${toShellAgent('claude')} && ${toShellAgent('worker-1')}`,
  'forge run fg-a3f8 --merge': 'forge run fg-a3f8 --agent claude > run.log',
  'attempt.pick': `export FORGE_ACTOR=user:reader && ${RUN_ENDED}`,
  'run.logs': RUN_ENDED,
  'run.stop': RUN_LOST,
  'attempt.start': `git commit --no-verify --allow-empty -m first && ${toShellAgent('claude')}`,
  // One task for each agent is enough to see them at work.
  dispatch: [
    'export FORGE_ACTOR=user:reader',
    'git commit --no-verify --allow-empty -m first',
    'forge task close fg-w0rk --force --reason done',
    ...['fg-b2c1', 'fg-c9d1', 'fg-d4e5', 'fg-f6g7', 'fg-e5a2'].map((id) => `forge task delete ${id}`),
    toShellAgent('worker-1'),
    toShellAgent('worker-2'),
  ].join(' && '),
  'git.merge': 'forge export && for file in %O %A %B; do cp .forge/tasks.jsonl $file; done',
};

/** A project where the ids and files of the examples exist: one of its own for what may change it. */
async function makeFolder(name: string, example: string, isRead: boolean): Promise<string> {
  const { path } = await templateProject();
  const isShared = isRead && !(name in BEFORE) && !(example in BEFORE);
  const folder = join(dirname(path), isShared ? 'example' : `example-${(counter += 1)}`);
  if (existsSync(folder)) return folder;
  if (name === 'project.init') {
    await mkdir(folder);
    runTestGit(folder, ['init', '--quiet']);
  } else {
    cpSync(path, folder, { recursive: true, verbatimSymlinks: true });
    // Folders of a copy have the usual modes, and Forge would tell of that.
    spawnSync('chmod', ['-R', 'go-rwx', join(folder, '.git/forge')]);
  }
  return folder;
}

/** As a reader would try it. */
async function runExample(
  name: string,
  example: string,
  { folder, byShell }: { readonly folder: string; readonly byShell: boolean },
): Promise<ProgramResult> {
  const template = await templateProject();
  const env: Record<string, string> = {
    TMPDIR: dirname(template.path),
    FORGE_ACTOR: 'user:reader',
    FORGE_HOME: join(template.home, basename(folder)),
  };
  noteUnwalled(env['FORGE_HOME'] ?? '');
  const options = { cwd: folder, env };
  for (const command of [name, example].flatMap((key) => BEFORE[key]?.split(' && ') ?? [])) {
    const [, variable, value = ''] = /^export (\w+)=(\S+)$/.exec(command) ?? [];
    if (variable === undefined) await prepare(command, options);
    else env[variable] = value;
  }
  const around = AROUND[name];
  if (around === undefined && !byShell) return runLine(example, options);
  return template.bash(toScript(around?.(example) ?? example), options);
}

async function prepare(command: string, options: RunOptions): Promise<void> {
  const { exit, stderr } = await runLine(command, options);
  if (exit !== 0) throw new Error(`${command} exited with ${exit}: ${stderr}`);
}

/** In this process, unless it takes a shell to read it. */
async function runLine(command: string, options: RunOptions): Promise<ProgramResult> {
  const template = await templateProject();
  const words = toWords(command);
  return words === undefined
    ? template.bash(toScript(command), options)
    : template.with(options).run(...words);
}

/** The words of a command that no shell need read: undefined for one with more than quotes in it. */
function toWords(command: string): string[] | undefined {
  if (!/^forge (?:[^'"$|<>&;`*?(){}[\]\\~#]|'[^']*'|"[^"$`\\]*")*$/.test(command)) return undefined;
  const words = command.match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? [];
  return words.slice(1).map((word) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'));
}

function toScript(command: string): string {
  return `set -eu -o pipefail\nfpath=(none "$HOME/zsh")\n${command}`;
}

let counter = 0;
let made: ReturnType<typeof forgeProjectHere> | undefined;
afterAll(async () => (await made)?.[Symbol.asyncDispose]());

function templateProject(): NonNullable<typeof made> {
  made ??= (async () => {
    const project = await forgeProjectHere();
    using db = project.openDatabase();
    const insert = db.prepare(`INSERT INTO tasks (id, title, type, created_at, created_by, updated_at)
      VALUES (?, 'An example', ?, '2026-01-01T00:00:00.000Z', 'x', '2026-01-01T00:00:00.000Z')`);
    for (const id of ['fg-a3f8', 'fg-b2c1', 'fg-c9d1', 'fg-d4e5', 'fg-f6g7']) insert.run(id, 'task');
    insert.run('fg-e5a2', 'epic');
    insert.run('fg-1111', 'bug');
    insert.run('fg-w0rk', 'task');
    await makeRun(project);
    db.exec("INSERT INTO dependencies (from_id, to_id) VALUES ('fg-c9d1', 'fg-b2c1')");
    await makeBackend(project);
    await Promise.all([
      project.write('specs/jwt.md', '# JWT\n'),
      project.write('build.log', 'ok\n'),
      project.write('notes.md', 'A note\n'),
      mkdir(join(project.home, 'zsh')),
      mkdir(join(project.home, '.config/fish/completions'), { recursive: true }),
      // Graphviz need not be installed to see that the line is right.
      writeFile(join(project.bin, 'dot'), '#!/bin/sh\nexec cat\n', { mode: 0o755 }),
    ]);
    return project;
  })();
  return made;
}

/** A run with the id of the examples, as a process that was killed leaves it. */
async function makeRun({ path }: Awaited<typeof made> & object): Promise<void> {
  const folder = join(path, '.git', 'forge');
  await using store = await openStore({ folder }, { clock: systemClock });
  const by = { actor: { kind: 'user', name: 'ann', named: true }, now: Date.UTC(2026, 1, 10) } as const;
  const names = { task_id: 'fg-w0rk', agent: 'worker-1' };
  const id = '35a40000-0000-4000-8000-000000000001';
  const place = { name: '35a4-an-example', path: '/nowhere/35a4-an-example', target: 'main', port: null };
  await store.startAttempt({ ...names, ...place, id, base_commit: 'a'.repeat(40) }, by);
  await store.changeAttempt({ id, removed_at: '2026-02-10T00:00:00.000Z' }, by);
  // Of another machine: nobody here can tell whether it is there.
  const gone = { ...readOwnIdentity(), host: 'elsewhere' };
  const run = {
    id: '7c1e40d2-0000-4000-8000-000000000001',
    attempt_id: id,
    role: 'coder',
    executor: 'shell',
    fence: null,
    in_state: null,
  };
  await store.createRun({ ...names, ...run, state: 'scheduled', session_id: null, watcher: gone }, by);
  await store.moveRun({ id: run.id, to: 'running' }, by);
  const approval = '9a020000-0000-4000-8000-000000000001';
  const command = 'npm test -- --run';
  const asked = { run_id: run.id, tool: 'Bash', input: { command }, command };
  await store.askApproval({ ...asked, id: approval }, by);
  const allowed = '4b710000-0000-4000-8000-000000000001';
  await store.askApproval({ ...asked, id: allowed }, by);
  const always = { kind: 'prefix', text: 'npm test' } as const;
  await store.answerApproval({ id: allowed, state: 'allowed', always }, by);
}

/** A second project, beside those of the examples. */
async function makeBackend(project: Awaited<typeof made> & object): Promise<void> {
  const folder = join(dirname(project.path), 'backend');
  await mkdir(folder);
  runTestGit(folder, ['init', '--quiet']);
  await project.with({ cwd: folder }).text('init', '--prefix', 'pb');
  using db = new DatabaseSync(join(folder, '.forge', 'forge.db'));
  db.exec(`INSERT INTO tasks (id, title, created_at, created_by, updated_at)
    VALUES ('pb-x1y2', 'Another', '2026-01-01T00:00:00.000Z', 'x', '2026-01-01T00:00:00.000Z')`);
}

function find(path: string): Declaration {
  const found = OPERATIONS.find(({ cli }) => cli.path.join(' ') === path);
  if (found === undefined) throw new Error(`no operation ${path}`);
  return found;
}
