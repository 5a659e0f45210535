import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { OPERATIONS } from '#contract/operations.ts';
import type { Task } from '#contract/task.ts';
import { ERROR_CODES, type ErrorBody } from '#kernel/errors.ts';
import { expectKeepsSchema, type ForgeCli, openPlace } from '../support/forge-cli.ts';
import { noteUnwalled } from '../support/note-unwalled.ts';
import { hasTerminal, onTerminal as runOnTerminal, type TerminalWish } from '../support/on-terminal.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { tempRepo } from '../support/temp-repo.ts';

const project = await forgeProjectHere();
afterAll(() => project[Symbol.asyncDispose]());

const ESC = '\u001b';

/** Of so many commands one is run by the program; the others only by its parts, in this process. */
const BY_PROGRAM = 16;

describe('--json', () => {
  it('[S2][S71] on every operation is one document that keeps its schema, with no server and no account', async () => {
    await using place = await forgeProjectHere();
    await using repo = await tempRepo();
    const fresh = await openPlace(repo);
    const task = await place.create('a task', '--label', 'x');
    const other = await place.create('other', '--depends-on', task.id);
    const merged = ['base', 'ours', 'theirs'].map((name) => join(dirname(place.path), name));
    for (const file of merged) await writeFile(file, '');
    // In an order in which each can do its work.
    const calls: readonly (readonly [string, ...string[]])[] = [
      ['task.create', 'task', 'create', 'third'],
      ['task.show', 'task', 'show', task.id],
      ['task.update', 'task', 'update', task.id, '--priority', '1'],
      ['task.claim', 'task', 'claim', task.id, '--lease', '60'],
      ['task.roles', 'task', 'roles', task.id],
      ['task.heartbeat', 'task', 'heartbeat', task.id, '--fence', '1'],
      ['task.release', 'task', 'release', task.id],
      ['task.transition', 'task', 'transition', task.id, 'blocked'],
      ['task.transitions', 'task', 'transitions', task.id],
      ['task.cancel', 'task', 'cancel', task.id],
      ['task.comment', 'task', 'comment', task.id, 'a comment'],
      ['task.comments', 'task', 'comments', task.id],
      ['task.reopen', 'task', 'reopen', task.id],
      ['task.assign', 'task', 'assign', task.id, 'reviewer', '--user', 'ann'],
      ['task.archive', 'task', 'archive', task.id],
      ['task.unarchive', 'task', 'unarchive', task.id],
      ['task.blocked', 'blocked'],
      ['project.status', 'status'],
      ['project.report', 'report'],
      ['task.close', 'task', 'close', task.id, '--reason', 'done'],
      ['task.wait', 'task', 'wait', task.id],
      ['task.result', 'task', 'result', task.id],
      ['task.reopen', 'task', 'reopen', task.id],
      ['task.history', 'task', 'history', task.id],
      ['task.list', 'task', 'list'],
      ['task.ready', 'ready'],
      ['task.search', 'search'],
      ['dep.remove', 'dep', 'remove', other.id, task.id],
      ['dep.add', 'dep', 'add', other.id, task.id],
      ['dep.tree', 'dep', 'tree', other.id],
      ['dep.list', 'dep', 'list', other.id],
      ['workflow.show', 'workflow', 'show'],
      ['workflow.validate', 'workflow', 'validate'],
      ['workflow.set', 'workflow', 'set', '--default'],
      ['workflow.graph', 'workflow', 'graph'],
      ['event.list', 'events'],
      ['project.pause', 'project', 'pause'],
      ['project.resume', 'project', 'resume'],
      ['project.trust', 'trust', '--list'],
      ['executor.list', 'executor', 'list'],
      ['repo.list', 'repo', 'list'],
      ['project.graph', 'graph'],
      ['project.stats', 'stats'],
      ['task.delete', 'task', 'delete', other.id],
      ['task.restore', 'task', 'restore', other.id],
      ['shell.completion', 'completion', 'bash'],
      ['project.prime', 'prime'],
      ['project.doctor', 'doctor'],
      ['hooks.status', 'hooks', 'status'],
      ['git.hook', 'hook', 'post-merge'],
      ['sync.export', 'export'],
      ['sync.import', 'import'],
      ['sync.gc', 'gc'],
      ['sync.commit', 'commit'],
      ['sync.run', 'sync', '--offline'],
      ['workspace.list', 'workspace', 'list'],
      ['workspace.clean', 'workspace', 'clean'],
      ['workspace.rescue', 'workspace', 'rescue'],
      ['whereami', 'whereami'],
      ['forecast', 'forecast'],
      ['git.merge', 'merge-driver', ...merged],
    ];
    // The title was changed here and in the file, by people who did not know of each other.
    const disagree = async (): Promise<void> => {
      await place.json('task', 'update', task.id, '--title', 'mine');
      const text = await place.read('.forge/tasks.jsonl');
      await place.write('.forge/tasks.jsonl', text.replace('"a task"', '"theirs"'));
      expect((await place.run('ready')).stderr).toContain('1 value lost against a change made elsewhere');
    };
    /** What writes into the Forge home, and what ends a project. */
    const last: typeof calls = [
      ['conflict.list', 'conflicts'],
      ['conflict.resolve', 'resolve', task.id],
      ['project.onboard', 'onboard'],
      ['project.add', 'project', 'add', 'shop', '.'],
      ['project.list', 'project', 'list'],
      ['worktree', 'worktree', 'shop'],
      // What it finds may keep things in the home by being asked.
      ['cli.list', 'clis'],
      ['workspace.open', 'workspace', 'open', other.id],
      ['agent.add', 'agent', 'add', 'worker-1'],
      ['agent.list', 'agent', 'list'],
      ['agent.show', 'agent', 'show', 'worker-1'],
      ['agent.pause', 'agent', 'pause', 'worker-1'],
      ['agent.resume', 'agent', 'resume', 'worker-1'],
      ['agent.token', 'agent', 'token', 'worker-1'],
      ['token.create', 'token', 'create', '--scope', 'read'],
      ['token.list', 'token', 'list'],
      ['mcp.install', 'mcp', 'install', '--client', 'claude', '--dry-run'],
      ['agent.remove', 'agent', 'remove', 'worker-1'],
      ['profile.add', 'profile', 'add', 'careful', '--executor', 'claude'],
      ['profile.list', 'profile', 'list'],
      ['profile.show', 'profile', 'show', 'careful'],
      ['profile.remove', 'profile', 'remove', 'careful'],
      ['settings.set', 'settings', 'set', 'caps.task_usd', '5'],
      ['settings.list', 'settings', 'list', '--all'],
      ['batch.create', 'batch', 'create', 'release', task.id],
      ['batch.add', 'batch', 'add', 'release', other.id],
      ['batch.show', 'batch', 'show', 'release'],
      ['batch.list', 'batch', 'list'],
      ['batch.close', 'batch', 'close', 'release'],
      ['project.remove', 'project', 'remove', 'shop'],
      ['hooks.uninstall', 'hooks', 'uninstall'],
      ['hooks.install', 'hooks', 'install'],
      ['project.uninstall', 'uninstall', '--yes'],
    ];
    // These speak for as long as they run, or need a token's id, or are empty here; each has tests of its own.
    const elsewhere = ['server.run', 'mcp.serve', 'token.rotate', 'token.revoke', 'skill.list'];
    elsewhere.push(
      'run.list',
      'run.show',
      'run.logs',
      'run.stop',
      'run.approve',
      'run.deny',
      'run.forget',
      'run.send',
    );
    elsewhere.push('run.start', 'dispatch', 'attempt.start', 'task.review', 'task.reviews');
    elsewhere.push('task.attempts', 'inbox.list');
    elsewhere.push('attempt.compare', 'attempt.pick', 'daemon.list', 'runtime.list', 'project.demo');
    const names = new Set(['project.init', ...elsewhere, ...[...calls, ...last].map(([name]) => name)]);
    expect([...names].toSorted()).toEqual(OPERATIONS.map(({ name }) => name).toSorted());
    const check = async ([name, ...args]: (typeof calls)[number], at: number): Promise<void> => {
      const forge = at % BY_PROGRAM === 0 ? place.program : place;
      const document = await forge.json<unknown>(...args);
      const declaration = OPERATIONS.find((one) => one.name === name);
      if (declaration !== undefined) expectKeepsSchema(declaration, document);
      expect([name, document]).not.toEqual([name, []]);
    };
    await fresh.json('init');
    for (const [at, call] of calls.entries()) await check(call, at);
    for (const format of ['mermaid', 'dot', 'svg', 'json']) await place.json('graph', '--format', format);
    for (const shell of ['bash', 'zsh', 'fish']) await place.json('completion', shell);
    expect(readdirSync(place.home), 'nothing is kept for a person').toEqual([]);
    await disagree();
    for (const [at, call] of last.entries()) await check(call, at);
  }, 240_000);

  it('[S71] an error is one document too, with the code, the message and the exit code of the table', async () => {
    const paths = OPERATIONS.flatMap(({ cli }) => [
      cli.path,
      ...(cli.alias === undefined ? [] : [cli.alias]),
    ]);
    const results = await Promise.all(paths.map((path) => project.run(...path, '--bogus', '--json')));
    const [first = []] = paths;
    results.push(await project.program.run(...first, '--bogus', '--json'));
    for (const { stdout, stderr, exit } of results) {
      expect({ stderr, exit }).toEqual({ stderr: '', exit: 2 });
      const document = JSON.parse(stdout) as { error: ErrorBody };
      expect(stdout).toBe(`${JSON.stringify(document)}\n`);
      expect(document.error).toMatchObject({ code: 'usage', details: { flag: '--bogus' } });
    }
    // With --json before the command, behind it, and where the command itself is wrong.
    for (const args of [
      ['--json', 'task', 'show', 'none'],
      ['task', 'show', 'none', '--json'],
      ['--json', 'nonsense'],
    ]) {
      const { stdout, stderr, exit } = await project.program.run(...args);
      const { error } = JSON.parse(stdout) as { error: ErrorBody };
      expect({ stderr, exit }).toEqual({ stderr: '', exit: ERROR_CODES[error.code].exit });
    }
    // Behind -- it is an argument, so this is text.
    const text = await project.run('task', 'show', '--', '--json');
    expect(text).toMatchObject({
      exit: 3,
      stdout: '',
      stderr: expect.stringMatching(/^forge: No task --json\n/),
    });
  });

  it('[S71] keeps every character: quotes, emoji, controls, lone backslashes, long lines', async () => {
    const texts = [
      '"',
      '\\',
      '\u0007 \u001b[31m \u202e',
      '😀 e\u0301 \u200d',
      'x'.repeat(400),
      '</script>',
      '\ufffd',
    ];
    const check = async (forge: ForgeCli, text: string): Promise<void> => {
      // A title is for every terminal, so it has none of these.
      const line = text.replaceAll(/[\u0000-\u001f\u202e]/g, '');
      const { id, title, description } = await forge.create(
        line,
        '--description',
        text,
        '--state',
        'backlog',
      );
      expect([title, description, (await forge.show(id)).title]).toEqual([line, text, line]);
    };
    for (const text of texts) await check(project, text);
    await check(project.program, texts.join(' '));
  });

  it('refuses bytes that are not UTF-8, in arguments and in files, instead of changing them', async () => {
    const before = await project.json<{ total: number }>('stats');
    const argument = await project.bash(`forge task create $'bad \\xff byte'`);
    expect(argument).toMatchObject({ exit: 2, stdout: '' });
    expect(argument.stderr).toMatch(/^forge: Argument 3 is not valid UTF-8\n/);
    const file = await project.bash(`printf 'bad \\xff' | forge task create x --description-file - --json`);
    expect(file.exit).toBe(2);
    expect(JSON.parse(file.stdout)).toMatchObject({
      error: { code: 'invalid_input', message: '--description-file: Standard input is not valid UTF-8' },
    });
    expect((await project.json<{ total: number }>('stats')).total).toBe(before.total);
  });

  it('--fields chooses fields in the order asked, in lists and objects, and leaves out what is absent', async () => {
    const { id } = await project.create('fields', '--label', 'fields');
    const shown = await project.run('task', 'show', id, '--json', '--fields', 'title, id,close_reason');
    expect(shown.stdout).toBe(`{"title":"fields","id":"${id}"}\n`);
    const listed = await project.run('search', '--label', 'fields', '--json', '--fields', 'status,id');
    expect(listed.stdout).toBe(`[{"status":"open","id":"${id}"}]\n`);
    const stats = await project.json<object>('stats', '--fields', 'total');
    expect(Object.keys(stats)).toEqual(['total']);
  });

  it('--fields with an unknown name is refused before anything is written; it needs --json', async () => {
    const before = await project.json<{ total: number }>('stats', '--fields', 'total');
    const results = await Promise.all([
      project.run('task', 'create', 'x', '--json', '--fields', 'id,nope'),
      project.run('task', 'create', 'x', '--json', '--fields', 'id,,title'),
      project.run('task', 'create', 'x', '--json', '--fields', ''),
      project.run('task', 'create', 'x', '--fields', 'id'),
    ]);
    expect(results.map(({ exit }) => exit)).toEqual([2, 2, 2, 2]);
    expect(JSON.parse(results[0]?.stdout ?? '')).toMatchObject({
      error: { code: 'usage', details: { unknown: ['nope'] } },
    });
    expect(results[3]?.stderr).toBe(
      'forge: --fields chooses fields of the JSON answer: it needs --json\n  try: Add --json\n',
    );
    expect(await project.json('stats', '--fields', 'total')).toEqual(before);
  });

  it('--limit cuts every list from its beginning', async () => {
    await using place = await forgeProjectHere();
    const first = await place.create('a');
    await Promise.all(['b', 'c', 'd'].map((title) => place.create(title, '--depends-on', first.id)));
    await place.json('task', 'update', first.id, '--priority', '1');
    for (const args of [
      ['ready'],
      ['task', 'list'],
      ['search'],
      ['blocked'],
      ['ready', '--explain'],
      ['ready', '--sort', 'impact'],
    ]) {
      const all = await place.json<unknown[]>(...args);
      expect([args, await place.json<unknown[]>(...args, '--limit', '2')]).toEqual([args, all.slice(0, 2)]);
    }
    const history = await place.json<unknown[]>('task', 'history', first.id);
    expect(history).toHaveLength(2);
    expect(await place.json('task', 'history', first.id, '--limit', '1'), 'the newest').toEqual(
      history.slice(-1),
    );
  });
});

describe('text', () => {
  it('goes to stdout and errors to stderr; a lost claim is an answer, no error', async () => {
    const { id } = await project.create('noticed');
    await project.json('claim', id, '--actor', 'w1');
    const claim = ['task', 'update', id, '--status', 'in_progress', '--assignee', 'w2'];
    const [lost, refused] = await Promise.all([
      project.program.run(...claim),
      project.program.run('claim', id, '--actor', 'w2'),
    ]);
    expect(lost).toEqual({ exit: 0, stdout: `Not claimed: ${id} is in_progress with w1\n`, stderr: '' });
    expect(refused).toEqual({
      exit: 4,
      stdout: '',
      stderr: `forge: ${id} belongs to w1\n  try: forge claim --next\n`,
    });
  });

  it.each<[Record<string, string>, string[], boolean]>([
    [{}, [], false],
    [{ FORCE_COLOR: '1' }, [], true],
    [{ FORCE_COLOR: '' }, [], true],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, [], true],
    [{ FORCE_COLOR: '1' }, ['--no-color'], false],
    [{ FORCE_COLOR: '0' }, [], false],
    [{ FORCE_COLOR: 'false' }, [], false],
    [{ NO_COLOR: '1' }, [], false],
  ])('in a pipe with %j and %j has colours: %s', async (env, flags, colours) => {
    const forge = project.with({ env });
    const [text, json] = await Promise.all([
      forge.run('task', 'list', ...flags),
      forge.run('task', 'list', '--json', ...flags),
    ]);
    expect(text.stdout.includes(`${ESC}[`)).toBe(colours);
    expect(json.stdout.includes(`${ESC}[`)).toBe(false);
    expect(text.stderr).toBe('');
  });

  it('has the same colours by the program', async () => {
    for (const [env, ...flags] of [
      [{ FORCE_COLOR: '1', NO_COLOR: '1' }],
      [{ FORCE_COLOR: '1' }, '--no-color'],
    ] as const) {
      const forge = project.with({ env });
      const here = await forge.run('task', 'list', ...flags);
      expect(await project.program.with({ env }).run('task', 'list', ...flags)).toEqual(here);
    }
  });

  it('help keeps the same rules', async () => {
    const [plain, forced] = await Promise.all([
      project.run('--help'),
      project.program.with({ env: { FORCE_COLOR: '1' } }).run('task', 'create', '--help'),
    ]);
    expect(plain.stdout).not.toContain(ESC);
    expect(forced.stdout).toContain(ESC);
  });
});

describe('a list in a pipe', () => {
  it('has a line a row and tabs between the cells, no header and no padding', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('a task', '--label', 'x');
    const { stdout } = await project.bash('COLUMNS= forge ready');
    expect(stdout).toBe(`${id}\tP2\ttask\ta task\tx\n`);
    expect(await project.text('ready')).toMatch(/^ID +PRI +TYPE +TITLE +LABELS\n/);
  });
});

describe('pipes', () => {
  it('`| head` and a reader that never reads do not fail, whatever is printed', async () => {
    const commands = [
      'task list',
      'task list --json',
      'stats --json',
      '--help',
      'task create --help',
      'completion bash',
      '--version',
      '--version --json',
    ];
    const results = await Promise.all(
      commands.map((command) => project.bash(`forge ${command} | true; echo "\${PIPESTATUS[0]}"`)),
    );
    expect(results.map(({ stdout, stderr }, at) => [commands[at], stdout, stderr])).toEqual(
      commands.map((command) => [command, '0\n', '']),
    );
    const first = await project.bash('forge task list | head -1; echo "${PIPESTATUS[0]}"');
    expect(first.stdout).toMatch(/^ID .*\n0\n$/);
    // An error keeps its code although nobody hears it.
    const failed = await project.bash('forge task show none --json | true; echo "${PIPESTATUS[0]}"');
    expect(failed.stdout).toBe('3\n');
  });

  it('what is told on the way survives a reader that goes away, and the work goes on', async () => {
    await using place = await forgeProjectHere();
    noteUnwalled(join(place.home, '.forge'));
    place.git('commit', '--quiet', '--no-verify', '--allow-empty', '-m', 'first');
    const words = ['sh', '-c', 'echo x > x'].map((word) => `--command=${word}`);
    await place.run('agent', 'add', 'w1', '--executor', 'shell', ...words);
    const { id } = await place.create('unheard');
    const { stdout, stderr } = await place.bash(
      `forge run ${id} --agent w1 --merge | true; echo "\${PIPESTATUS[0]}"`,
    );
    expect({ stdout, stderr }).toEqual({ stdout: '0\n', stderr: '' });
    expect(await place.show(id)).toMatchObject({ state: 'done' });
  });

  it('five megabytes arrive complete, in a pipe, in a slow one, in a full non-blocking one, and in a file', async () => {
    await using big = await forgeProjectHere();
    await big.write('big.md', 'ü'.repeat(450_000));
    for (let at = 0; at < 6; at += 1) await big.create(`big ${at}`, '--description-file', 'big.md');
    const expected = await big.program.run('task', 'list', '--json');
    expect(expected.exit).toBe(0);
    expect(JSON.parse(expected.stdout)).toHaveLength(6);
    const size = Buffer.byteLength(expected.stdout);
    expect(size).toBeGreaterThan(5_000_000);
    const results = await Promise.all([
      big.bash('forge task list --json | wc -c'),
      big.bash('forge task list --json | (sleep 0.5; wc -c)'),
      // Another program that holds the same pipe has made it non-blocking: writes fail with EAGAIN while it is full.
      big.bash(
        `{ node -e 'process.stdout.write(""); fs.writeFileSync("ready", ""); setTimeout(() => {}, 1500)' &
           until [ -e ready ]; do sleep 0.05; done
           forge task list --json; echo "exit $?" >&2; wait; } | (sleep 1; wc -c)`,
      ),
      big.bash('forge task list --json > out.json && wc -c < out.json'),
    ]);
    expect(results.map(({ stdout }) => Number(stdout))).toEqual([size, size, size, size]);
    expect(results[2]?.stderr).toBe('exit 0\n');
  });

  it.skipIf(process.platform !== 'linux')(
    'a full disk under the output is an error, a closed one is none',
    async () => {
      const [list, write, closed] = await Promise.all([
        project.bash('forge task list > /dev/full'),
        project.bash('forge task list --json > /dev/full'),
        project.bash('forge task list >&-'),
      ]);
      for (const { exit, stderr } of [list, write]) {
        expect(exit).toBe(1);
        expect(stderr).toBe(
          'forge: The command was carried out, but its answer could not be written (ENOSPC)\n',
        );
      }
      expect(closed).toMatchObject({ exit: 0, stderr: '' });
      const version = await project.bash('forge --version > /dev/full');
      expect(version).toEqual({
        exit: 1,
        stdout: '',
        stderr: 'forge: The command was carried out, but its answer could not be written (ENOSPC)\n',
      });
    },
  );
});

describe.skipIf(!hasTerminal)('on a terminal', () => {
  const onTerminal = (command: string, wish: TerminalWish = {}) => runOnTerminal(project, command, wish);

  it('JSON is indented and controls are escaped; text is coloured and fits the width', async () => {
    const red = '\u001b[31m end';
    const { id } = await project.create('long '.repeat(30), '--label', 'wide', '--description', red);
    const [json, text, dumb, off] = await Promise.all([
      onTerminal(`forge task show ${id} --json --fields id,description`),
      onTerminal('forge search --label wide'),
      onTerminal('forge search --label wide', { env: { TERM: 'dumb' } }),
      onTerminal('forge search --label wide', { env: { NO_COLOR: '1' } }),
    ]);
    const lines = json.stdout.split('\r\n');
    expect(lines.slice(0, 2)).toEqual(['{', `  "id": "${id}",`]);
    expect(json.stdout).not.toContain(ESC);
    expect(JSON.parse(json.stdout)).toEqual({ id, description: red });
    expect(text.stdout).toContain(`${ESC}[`);
    expect(text.stdout).toContain('…');
    for (const plain of [dumb, off]) {
      expect(plain.stdout).not.toContain(ESC);
      for (const line of plain.stdout.split('\r\n')) expect(line.length).toBeLessThanOrEqual(60);
    }
  });

  it('[S93] close asks for the reason; an empty answer, the end of input and Ctrl-C close nothing', async () => {
    const [told, empty, ended, stopped] = await Promise.all(
      ['told', 'empty', 'ended', 'stopped'].map((title) => project.create(title)),
    );
    const results = await Promise.all([
      onTerminal(`forge task close ${told?.id}`, { input: 'because I say so\\n' }),
      onTerminal(`forge task close ${empty?.id}`, { input: '\\n' }),
      onTerminal(`forge task close ${ended?.id}`, { input: '\\004' }),
      onTerminal(`forge task close ${stopped?.id}`, { input: '\\003' }),
    ]);
    expect(results.map(({ exit }) => exit)).toEqual([0, 2, 2, 130]);
    expect(results[0]?.stdout).toContain('Why is it closed?');
    expect(results[0]?.stdout).toContain(`Closed task ${told?.id}: told (because I say so)`);
    const after = await Promise.all(
      [told, empty, ended, stopped].map((task) => project.show(task?.id ?? '')),
    );
    expect(after.map(({ status, close_reason }) => [status, close_reason])).toEqual([
      ['closed', 'because I say so'],
      ['open', undefined],
      ['open', undefined],
      ['open', undefined],
    ]);
  });
});

describe('what is typed', () => {
  it('--flag=value, values that begin with a dash, and -- for arguments that do', async () => {
    const [equals, dashed, behind] = await Promise.all([
      project.create('equals', '--priority=1', '--label=a=b'),
      project.create('dashed', '--description=- one\n- two', '--label=-x'),
      project.run('task', 'create', '--json', '--priority', '3', '--', '--json'),
    ]);
    expect(equals).toMatchObject({ priority: 1, labels: ['a=b'] });
    expect(dashed).toMatchObject({ description: '- one\n- two', labels: ['-x'] });
    expect(JSON.parse(behind.stdout)).toMatchObject({ title: '--json', priority: 3 } satisfies Partial<Task>);
    const forgotten = await project.fails('task', 'create', 'x', '--label', '--priority', '1');
    expect(forgotten.error).toMatchObject({
      code: 'usage',
      message: '--label needs a value, and --priority looks like a flag',
    });
    const twice = await project.fails('task', 'create', 'x', '--priority', '1', '--priority', '2');
    expect(twice.error.message).toBe('--priority is given twice: "1" and "2"');
    const extra = await project.fails('task', 'create', 'two', 'words');
    expect(extra.error.message).toBe('Too many arguments: "words" has no place');
  });
});
