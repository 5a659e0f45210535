import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { forgeFolder, type ForgeProject, openPlace } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { bringTasks, expectRefused, type Refusal, takeSnapshot } from '../support/store-snapshot.ts';
import { tempRepo } from '../support/temp-repo.ts';

const ID = 'fg-know';

describe('a command line that cannot be meant', () => {
  test('unknown flags and commands come with the one that was probably meant', async () => {
    await using project = await projectOfOne();
    const usage = (args: string[], says: string | RegExp, hint?: string): Refusal => ({
      args,
      code: 'usage',
      says,
      ...(hint !== undefined && { hint }),
    });
    await expectRefused(project, [
      usage(
        ['task', 'create', 'x', '--priorty', '1'],
        'Unknown flag --priorty; did you mean --priority?',
        'forge task create --help',
      ),
      usage(['task', 'create', 'x', '--zzzzzz'], /^Unknown flag --zzzzzz$/, 'forge task create --help'),
      usage(['task', 'create', 'x', '-p'], 'Unknown flag -p'),
      usage(['task', 'create', 'x', '--title=y'], '--title'),
      usage(['task', 'show', ID, '--priority', '1'], 'Unknown flag --priority', 'forge task show --help'),
      usage(
        ['--priority', '1', 'task', 'create', 'x'],
        'Unknown flag --priority before the command',
        'forge --help',
      ),
      usage(['tsk', 'create', 'x'], 'Unknown command: forge tsk; did you mean forge task?', 'forge --help'),
      usage(['create', 'x'], 'Unknown command: forge create; did you mean forge task create?'),
      usage(
        ['task', 'ready'],
        'Unknown command: forge task ready; did you mean forge ready?',
        'forge task --help',
      ),
      usage(['task', 'craete', 'x'], 'did you mean forge task create?'),
      usage(['__proto__'], 'Unknown command: forge __proto__'),
      usage(['task', 'constructor'], 'Unknown command: forge task constructor'),
      usage(['task', 'create', 'x', '--__proto__', '1'], 'Unknown flag --__proto__'),
      usage(['ready', '--version'], 'Unknown flag --version'),
    ]);
  });

  test('values that are missing, twice, or too many', async () => {
    await using project = await projectOfOne();
    const usage = (args: string[], says: string, hint?: string): Refusal => ({
      args,
      code: 'usage',
      says,
      ...(hint !== undefined && { hint }),
    });
    const create = ['task', 'create', 'x'];
    await expectRefused(project, [
      usage(['task', 'create'], '<title> is missing', 'forge task create <title> [flags]'),
      usage(['task', 'show'], '<id> is missing', 'forge task show <id> [flags]'),
      usage(['task', 'close', ID], '--reason is missing', 'forge task close <id> --reason <reason> [flags]'),
      usage(['task', 'comment', ID], '<body> is missing', 'forge task comment <id> <body> [flags]'),
      usage(['dep', 'add', ID], '<to-id> is missing', 'forge dep add <from-id> <to-id> [flags]'),
      usage(
        ['task', 'create', 'Fix', 'the', 'parser'],
        'Too many arguments: "the" has no place',
        'needs quotes',
      ),
      usage([...create, '--priority', '1', '--priority', '2'], '--priority is given twice: "1" and "2"'),
      usage([...create, '--description', 'a', '--description', 'a'], '--description is given twice'),
      usage([...create, '--actor', 'a', '--actor', 'b'], '--actor is given twice'),
      usage(
        [...create, '--priority', '--quiet'],
        '--priority needs a value, and --quiet looks like a flag',
        '--priority=--quiet',
      ),
      usage([...create, '--quiet=yes'], '--quiet takes no value'),
      usage(
        [...create, '--description', 'a', '--description-file', 'b'],
        '--description and --description-file exclude each other',
      ),
      usage(['task', 'comment', ID, 'a', '--body-file', 'b'], '<body> and --body-file exclude each other'),
      usage(
        [...create, '--description-file', '-', '--meta-set', 'k=@-'],
        'Standard input can be read only once',
      ),
      usage(['task', 'update', ID], 'Nothing to update', 'forge task update --help'),
      usage(
        ['task', 'update', ID, '--reason', 'because'],
        '--reason belongs to --status closed',
        'forge task close fg-know',
      ),
      usage(['claim'], 'Which task?', 'forge claim --help'),
      usage(['claim', ID, '--next'], 'Give an id or --next, not both'),
      usage(['claim', '--next', '--force'], '--force needs an id'),
      usage(['claim', ID, '--label', 'x'], '--type and --label belong to --next'),
      usage(['-C', '', 'ready'], '--directory names no folder'),
    ]);
  });

  test('a flag at the end without its value', async () => {
    await using project = await projectOfOne();
    const before = takeSnapshot(project.path);
    for (const flag of ['--priority', '--label', '--description-file', '--actor', '-C']) {
      const { stderr, exit } = await project.run('task', 'create', 'x', flag);
      expect
        .soft({ flag, exit, stderr })
        .toEqual({ flag, exit: 2, stderr: expect.stringContaining(`${flag} needs a value`) });
    }
    expect(takeSnapshot(project.path)).toEqual(before);
  });

  test('--json is obeyed on a command line that makes no sense otherwise', async () => {
    await using project = await projectOfOne();
    const lines = [
      ['--json'],
      ['--json', '--zz'],
      ['--json', 'nope'],
      ['--zz', '--json', 'ready'],
      ['task', '--json'],
      ['task', 'create', 'x', '--priority', '--json'],
      ['task', 'create', 'x', '--json', '--json', '--zz'],
      ['task', 'create', 'x', '--json', '--fields', 'nope'],
      ['task', 'create', 'x', '--json', '--fields', ''],
    ];
    const before = takeSnapshot(project.path);
    await Promise.all(
      lines.map(async (args) => {
        const { stdout, stderr, exit } = await project.run(...args);
        expect.soft({ args, stderr, exit }).toEqual({ args, stderr: '', exit: 2 });
        const body = { code: 'usage', message: expect.any(String), details: expect.any(Object) };
        expect.soft(JSON.parse(stdout), args.join(' ')).toEqual({ error: expect.objectContaining(body) });
      }),
    );
    // Behind -- it is no flag any more, and --json=1 is none either.
    expect(await project.run('task', 'show', '--', '--json')).toMatchObject({ stdout: '', exit: 3 });
    expect(await project.run('ready', '--json=1')).toMatchObject({ stdout: '', exit: 2 });
    expect(takeSnapshot(project.path)).toEqual(before);
  });

  test('fields that an answer does not have are refused before anything is written', async () => {
    await using project = await projectOfOne();
    const before = takeSnapshot(project.path);
    const { exit, stderr } = await project.run('task', 'create', 'x', '--fields', 'id');
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining('it needs --json') });
    const unknown = await project.run('task', 'create', 'x', '--json', '--fields', 'id,nope,__proto__');
    expect(JSON.parse(unknown.stdout)).toMatchObject({
      error: {
        code: 'usage',
        message: expect.stringContaining('no field nope, __proto__'),
        details: { unknown: ['nope', '__proto__'] },
      },
    });
    expect(takeSnapshot(project.path)).toEqual(before);
  });
});

describe('commands in the wrong place', () => {
  const COMMANDS = [
    ['ready'],
    ['stats'],
    ['graph'],
    ['task', 'show', 'x'],
    ['task', 'create', 'x'],
    ['claim', '--next'],
    ['dep', 'add', 'a', 'b'],
  ];

  test('outside a repository, and in one that is no project', async () => {
    await using folder = await forgeFolder();
    await using repo = await tempRepo();
    const place = await openPlace(repo);
    const want = { code: 'not_a_project', message: "Not a Forge project. Run 'forge init' first." };
    for (const args of COMMANDS) {
      const [outside, inside] = await Promise.all([folder.fails(...args), place.fails(...args)]);
      expect
        .soft({ args, outside: outside.error, inside: inside.error })
        .toMatchObject({ args, outside: want, inside: want });
    }
    const init = await folder.fails('init');
    expect(init.error).toMatchObject({ code: 'not_a_repository', hint: 'git init' });
    expect(readdirSync(folder.path)).toEqual([]);
    expect(readdirSync(repo.path)).toEqual(['.git']);
    expect(readdirSync(join(repo.path, '.git'))).not.toContain('forge');
  });

  test('inside the git directory, and where .git leads nowhere', async () => {
    await using project = await projectOfOne();
    await using broken = await forgeFolder();
    const { error } = await project.with({ cwd: join(project.path, '.git') }).fails('ready');
    expect(error.code).toBe('not_a_project');
    await broken.write('.git', 'gitdir: /nowhere/at/all\n');
    const { error: nowhere } = await broken.fails('ready');
    expect(nowhere).toMatchObject({
      code: 'not_a_repository',
      message: expect.stringContaining('/nowhere/at/all'),
    });
    expect(nowhere.hint).toContain('git worktree repair');
  });

  test('a second init changes nothing and says so', async () => {
    await using project = await projectOfOne();
    await expectRefused(project, [
      {
        args: ['init', '--prefix', 'zz', '--name', 'Other'],
        code: 'already_exists',
        says: `${project.path} is a Forge project already`,
        hint: 'forge task create',
      },
    ]);
  });

  test('a folder of -C that does not exist is no folder of the project around it', async () => {
    await using project = await projectOfOne();
    const missing = join(project.path, 'no-such-folder');
    await expectRefused(project, [
      { args: ['-C', missing, 'ready'], code: 'invalid_input', says: missing },
      {
        args: ['-C', 'no-such-folder', 'task', 'create', 'x'],
        code: 'invalid_input',
        says: 'no-such-folder',
      },
    ]);
  });

  test('a current folder that was removed is told, not thrown', async () => {
    await using project = await projectOfOne();
    const before = takeSnapshot(project.path);
    const inRemovedFolder = (command: string) =>
      project.bash(`mkdir gone && cd gone && rmdir ../gone && ${command}`);
    for (const command of ['forge ready', 'forge task create x', 'forge init']) {
      const text = await inRemovedFolder(command);
      expect.soft(text, command).toEqual({
        stdout: '',
        stderr: expect.stringMatching(/^forge: .*(folder|directory).*\n/),
        exit: expect.any(Number),
      });
      expect.soft(text.stderr, command).not.toMatch(/^ +at /m);
      const json = await inRemovedFolder(`${command} --json`);
      expect.soft(json.stdout, command).toMatch(/^\{"error":\{"code":"[a-z_]+","message":"/);
      expect.soft([json.exit, text.exit], command).not.toContain(0);
    }
    expect.soft(await inRemovedFolder('forge --version')).toMatchObject({ exit: 0 });
    expect.soft(await inRemovedFolder('forge --help')).toMatchObject({ exit: 0 });
    expect.soft(await inRemovedFolder(`forge -C ${project.path} ready`)).toMatchObject({ exit: 0 });
    expect(takeSnapshot(project.path)).toEqual(before);
  });
});

describe('a config that cannot be used', () => {
  const GOOD = { name: 'x', idPrefix: 'fg', version: 1, created_at: '2026-01-01T00:00:00Z' };
  const CASES: readonly [name: string, config: string, says: string, code?: Refusal['code']][] = [
    ['garbage', 'garbage', 'is not valid JSON'],
    ['nothing', '', 'is not valid JSON'],
    ['a list', '[]', 'does not hold a JSON object'],
    ['no keys', '{}', 'version is missing; allowed is the number 1'],
    [
      'version 99',
      JSON.stringify({ ...GOOD, version: 99 }),
      'version is 99, this Forge knows 1',
      'schema_newer',
    ],
    [
      'a version in quotes',
      JSON.stringify({ ...GOOD, version: '1' }),
      'version is "1"; allowed is the number 1',
    ],
    ['a bad prefix', JSON.stringify({ ...GOOD, idPrefix: 'F!' }), 'idPrefix is "F!"; allowed is 2 to 4'],
    ['a long prefix', JSON.stringify({ ...GOOD, idPrefix: 'p'.repeat(5_000) }), 'idPrefix is "ppp'],
    ['a name that is a number', JSON.stringify({ ...GOOD, name: 5 }), 'name is 5; allowed is one line'],
    ['a name with a line break', JSON.stringify({ ...GOOD, name: 'a\nb' }), 'name is "a\\nb"'],
    ['no time', JSON.stringify({ ...GOOD, created_at: 'yesterday' }), 'created_at is "yesterday"'],
    ['settings in a list', JSON.stringify({ ...GOOD, settings: [] }), 'settings is []; allowed is an object'],
    [
      'a priority of 9',
      JSON.stringify({ ...GOOD, settings: { defaultPriority: 9 } }),
      'settings.defaultPriority is 9',
    ],
    [
      'an unknown type',
      JSON.stringify({ ...GOOD, settings: { defaultType: 'x' } }),
      'settings.defaultType is "x"',
    ],
    ['a merge conflict', '<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> x\n', 'is not valid JSON'],
  ];

  test('is named with file, key and what is allowed, by reads and by writes', async () => {
    await using project = await projectOfOne();
    const path = join(project.path, '.forge', 'config.json');
    for (const [name, config, says, code = 'invalid_input'] of CASES) {
      writeFileSync(path, config);
      const before = takeSnapshot(project.path);
      const { error } = await project.fails(
        ...(code === 'schema_newer' ? ['task', 'create', 'x'] : ['ready']),
      );
      expect.soft({ name, ...error }).toMatchObject({
        name,
        code,
        message: expect.stringContaining(`${path}`),
        hint: expect.any(String),
        details: { path },
      });
      expect.soft(error.message, name).toContain(says);
      expect.soft(error.message.length, name).toBeLessThan(path.length + 200);
      expect(takeSnapshot(project.path)).toEqual(before);
    }
    const { error } = await project.fails('task', 'create', 'x');
    expect(error).toMatchObject({ code: 'invalid_input', hint: 'Resolve the merge conflict in it' });
  });

  test('a folder in its place, or none at all', async () => {
    await using project = await projectOfOne();
    const path = join(project.path, '.forge', 'config.json');
    rmSync(path);
    // The copy beside the database serves.
    expect((await project.create('without a config here')).id).toMatch(/^fg-/);
    mkdirSync(path);
    await expectRefused(project, [
      { args: ['ready'], code: 'invalid_input', says: `${path} is not a regular file but a folder` },
    ]);
  });
});

async function projectOfOne(): Promise<ForgeProject> {
  const project = await forgeProjectHere();
  bringTasks(project.path, [{ id: ID }]);
  await project.text('ready');
  return project;
}
