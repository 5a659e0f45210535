import { existsSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OutputOf } from '#contract/declare.ts';
import { OPERATIONS } from '#contract/operations.ts';
import type { initProject } from '#contract/project-operations.ts';
import type { Task } from '#contract/task.ts';
import { openPlace } from '../support/forge-cli.ts';
import { forgeFolderHere, forgeProjectHere, openPlaceHere } from '../support/forge-here.ts';
import { tempRepo } from '../support/temp-repo.ts';

type Initialised = OutputOf<typeof initProject>;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('forge init', () => {
  it('[S4][S10][S72] makes the config, the task files, the link and the lines for git, and nothing else', async () => {
    await using repo = await tempRepo();
    const forge = await openPlace(repo);
    const made = await forge.json<Initialised>('init', '--prefix', 'myp', '--name', 'My Project');

    const config: unknown = JSON.parse(await repo.read('.forge/config.json'));
    expect(config).toEqual({
      name: 'My Project',
      idPrefix: 'myp',
      version: 1,
      created_at: expect.stringMatching(ISO),
      projectId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const { projectId: project_id, ...rest } = config as Record<string, unknown>;
    expect(made).toEqual({
      ...rest,
      project_id,
      directory: join(repo.path, '.forge'),
      database: join(repo.path, '.git/forge/forge.db'),
      mode: 'standard',
      adopted: false,
      notes: [],
    });
    expect(await repo.read('.gitignore')).toBe('.forge/forge.db\n.forge/forge.db-shm\n.forge/forge.db-wal\n');
    expect(await repo.read('.gitattributes')).toBe(
      ['tasks', 'history']
        .map((name) => `.forge/${name}.jsonl merge=forge text eol=lf -filter -ident !working-tree-encoding\n`)
        .join(''),
    );
    const files = ['config.json', 'forge.db', 'history.jsonl', 'hooks', 'issues', 'tasks.jsonl'];
    expect(readdirSync(join(repo.path, '.forge')).toSorted()).toEqual(files);
    expect(await repo.read('.forge/tasks.jsonl')).toBe('');
    expect(readlinkSync(join(repo.path, '.forge/forge.db'))).toBe('../.git/forge/forge.db');
    expect(realpathSync(join(repo.path, '.forge/forge.db'))).toBe(made.database);
    expect(repo.git('status', '--porcelain', '-uall')).toBe(
      ['config.json', 'history.jsonl', 'hooks/post-merge', 'hooks/pre-commit', 'tasks.jsonl']
        .map((file) => `?? .forge/${file}\n`)
        .concat('?? .gitattributes\n?? .gitignore')
        .join(''),
    );
    expect(repo.git('config', '--get', 'merge.forge.driver')).toContain(' merge-driver %O %A %B %P');
    expect(await repo.read('.git/hooks/pre-commit')).toContain('# >>> forge >>>');
    expect(readdirSync(forge.home), 'the home stays as it was').toEqual([]);
    expect((await forge.create('first')).id).toMatch(/^myp-[0-9a-z]{4}$/);
  });

  it('[S72] takes fg and the name of the folder when nothing is said, and says what comes next', async () => {
    await using repo = await tempRepo({ folder: 'greeting service' });
    const forge = await openPlace(repo);
    expect(await forge.text('init')).toBe(
      `Initialized Forge project "greeting service" in ${repo.path}/.forge\n` +
        'Task ids begin with fg-. Commit .forge, .gitignore and .gitattributes to share the project.\n' +
        'Next: forge task create "My first task"',
    );
    expect(JSON.parse(await repo.read('.forge/config.json'))).toMatchObject({
      name: 'greeting service',
      idPrefix: 'fg',
    });
  });

  it('[S72] makes the project at the top of the repository, from any folder in it', async () => {
    await using repo = await tempRepo();
    await repo.write('deep/er/a.txt', '');
    const forge = await openPlaceHere(repo);
    const made = await forge.with({ cwd: join(repo.path, 'deep/er') }).json<Initialised>('init');
    expect(made.directory).toBe(join(repo.path, '.forge'));
    expect(made.name).toBe(basename(repo.path));
    expect(existsSync(join(repo.path, 'deep/er/.forge'))).toBe(false);
  });

  it('[S10] keeps a .gitignore that is there byte for byte and adds what is missing', async () => {
    await using repo = await tempRepo();
    await repo.write('.gitignore', 'node_modules\r\n.forge/forge.db\r\n*.log');
    const forge = await openPlaceHere(repo);
    await forge.json('init');
    expect(await repo.read('.gitignore')).toBe(
      'node_modules\r\n.forge/forge.db\r\n*.log\r\n.forge/forge.db-shm\r\n.forge/forge.db-wal\r\n',
    );
  });

  it('[S73] refuses where a project is, also from a subfolder, and changes nothing', async () => {
    await using project = await forgeProjectHere({ prefix: 'ab' });
    await project.write('sub/a.txt', '');
    const before = await Promise.all([
      project.read('.forge/config.json'),
      project.read('.gitignore'),
      project.read('.git/info/exclude'),
    ]);
    const failure = await project.fails('init', '--prefix', 'zz');
    const inside = await project.with({ cwd: join(project.path, 'sub') }).fails('init');
    expect(failure).toMatchObject({ exit: 4, error: { code: 'already_exists' } });
    expect(failure.stderr).toBe(
      `forge: ${project.path} is a Forge project already: ${project.path}/.forge\n  try: forge task create "…"\n`,
    );
    expect(inside.error).toEqual(failure.error);
    const after = await Promise.all([
      project.read('.forge/config.json'),
      project.read('.gitignore'),
      project.read('.git/info/exclude'),
    ]);
    expect(after).toEqual(before);
    expect((await project.create('still ab')).id).toMatch(/^ab-/);
  });

  it('[S73] a clone is a project already: the first command mends what git did not take along, and says so once', async () => {
    await using project = await forgeProjectHere({ prefix: 'cl' });
    const { id } = await project.create('in the origin');
    project.git('add', '.');
    project.git('commit', '--quiet', '-m', 'forge');
    const clone = `${project.path}-clone`;
    project.git('clone', '--quiet', project.path, clone);
    const forge = project.with({ cwd: clone });
    const first = await forge.run('ready', '--json');
    expect((JSON.parse(first.stdout) as Task[]).map((task) => task.id)).toEqual([id]);
    expect(first.stderr.split('\n').toSorted()).toEqual([
      '',
      expect.stringMatching(/^forge: 1 tasks? came in from \.forge\/tasks\.jsonl$/),
      'forge: Registered the merge driver in this clone. Its hooks are not installed yet: forge init',
    ]);
    // Nothing is left to say.
    expect(await forge.json<Task[]>('ready')).toHaveLength(1);
    expect((await forge.create('in the clone')).id).toMatch(/^cl-/);
  });

  it('[S73] adopts in a clone, once', async () => {
    await using project = await forgeProjectHere({ prefix: 'cl', name: 'The shop' });
    const { id } = await project.create('in the origin');
    project.git('add', '.');
    project.git('commit', '--quiet', '-m', 'forge');
    const clone = `${project.path}-clone`;
    project.git('clone', '--quiet', project.path, clone);
    const forge = project.with({ cwd: clone });
    expect(await forge.text('init')).toBe(
      'This clone is ready for the Forge project "The shop"\n' +
        'Task ids begin with cl-.\n' +
        'Next: forge ready',
    );
    const { stdout } = await forge.run('ready', '--json');
    expect((JSON.parse(stdout) as Task[]).map((task) => task.id)).toEqual([id]);
    const status = (cwd: string): Promise<unknown> => project.with({ cwd }).json('hooks', 'status');
    expect(JSON.stringify(await status(clone))).not.toMatch(/"(absent|outdated)"/);
    expect((await forge.fails('init')).error.code).toBe('already_exists');
    expect((await forge.fails('init', '--stealth')).error).toMatchObject({
      code: 'already_exists',
      message: 'This is a Forge project in standard mode already',
    });
  });

  it.each([1, 2, 3])(
    '[S73] of four inits at once one makes the project, the others are told (%i)',
    async () => {
      await using repo = await tempRepo();
      const forge = await openPlaceHere(repo);
      const results = await Promise.all(
        ['aa', 'bb', 'cc', 'dd'].map((prefix) => forge.run('init', '--prefix', prefix, '--json')),
      );
      expect(results.filter(({ exit }) => exit !== 0 && exit !== 4)).toEqual([]);
      const winners = results.filter(({ exit }) => exit === 0);
      expect(winners).toHaveLength(1);
      const { idPrefix } = JSON.parse(await repo.read('.forge/config.json')) as Initialised;
      expect((JSON.parse(winners[0]?.stdout ?? '') as Initialised).idPrefix).toBe(idPrefix);
      expect(await repo.read('.git/forge/config.json')).toBe(await repo.read('.forge/config.json'));
      expect(await repo.read('.gitignore')).toBe(
        '.forge/forge.db\n.forge/forge.db-shm\n.forge/forge.db-wal\n',
      );
      expect(readlinkSync(join(repo.path, '.forge/forge.db'))).toBe('../.git/forge/forge.db');
      expect((await forge.create('works')).id.startsWith(`${idPrefix}-`)).toBe(true);
    },
  );

  it('[S74] outside a git repository it says so and leaves the folder empty', async () => {
    await using folder = await forgeFolderHere();
    const failure = await folder.fails('init');
    expect(failure.stderr).toBe(
      'forge: Not inside a git repository. Forge keeps its tasks in one.\n  try: git init\n',
    );
    expect(failure).toMatchObject({ exit: 5, error: { code: 'not_a_repository' } });
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('[S113] takes a prefix of 2 to 4 lower-case letters or digits only', async () => {
    await using repo = await tempRepo();
    const forge = await openPlaceHere(repo);
    const wrong = ['TOOLONG', 'abcde', 'a', '', 'AB', 'a-b', 'a b', 'ä1', 'a_', 'ab\n'];
    const failures = await Promise.all(wrong.map((prefix) => forge.fails('init', `--prefix=${prefix}`)));
    for (const { stderr, error } of failures) {
      expect(error.code).toBe('invalid_input');
      expect(stderr).toBe(
        'forge: --prefix: a prefix is 2 to 4 lower-case letters or digits\n  try: forge init --help\n',
      );
    }
    expect(existsSync(join(repo.path, '.forge'))).toBe(false);
    expect(existsSync(join(repo.path, '.git/forge'))).toBe(false);
    expect(existsSync(join(repo.path, '.gitignore'))).toBe(false);
    const { idPrefix } = await forge.json<Initialised>('init', '--prefix', '0a9z');
    expect(idPrefix).toBe('0a9z');
    expect((await forge.create('x')).id).toMatch(/^0a9z-[0-9a-z]{4}$/);
  });

  it('[S72] refuses a name that is blank, has lines or is too long', async () => {
    await using repo = await tempRepo();
    const forge = await openPlaceHere(repo);
    const failures = await Promise.all(
      ['', '  ', 'a\nb', 'x'.repeat(201)].map((name) => forge.fails('init', `--name=${name}`)),
    );
    expect(failures.map(({ exit, error }) => [exit, error.code])).toEqual(
      Array(4).fill([2, 'invalid_input']),
    );
    expect(existsSync(join(repo.path, '.forge'))).toBe(false);
  });
});

describe('outside a project', () => {
  const needing = OPERATIONS.filter(({ needs }) => needs === 'project');

  it('[S127] every command that needs one says so to the letter', async () => {
    await using folder = await forgeFolderHere();
    const failures = await Promise.all(
      needing.map(({ cli, input }) => {
        const flags = Object.entries(input.shape)
          .filter(([field, schema]) => !cli.args?.includes(field) && !schema.isOptional())
          .flatMap(([field]) => [`--${cli.flags?.[field]?.flag ?? field}`, '1']);
        // A file that is read from standard input, which is empty.
        const args = (cli.args ?? []).map((arg) => {
          if (cli.flags?.[arg]?.file_argument === true) return '-';
          return arg === 'verdict' ? 'pass' : 'fg-a3f8';
        });
        return folder.fails(...cli.path, ...args, ...flags);
      }),
    );
    expect(failures.length).toBeGreaterThan(15);
    for (const failure of failures) {
      expect(failure).toEqual({
        exit: 5,
        stderr: "forge: Not a Forge project. Run 'forge init' first.\n",
        error: {
          code: 'not_a_project',
          message: "Not a Forge project. Run 'forge init' first.",
          details: {},
        },
      });
    }
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('[S127] a git repository without .forge is none either, and stays clean', async () => {
    await using repo = await tempRepo();
    const forge = await openPlaceHere(repo);
    const failures = await Promise.all([forge.fails('ready'), forge.fails('task', 'create', 'x')]);
    for (const { stderr } of failures)
      expect(stderr).toBe("forge: Not a Forge project. Run 'forge init' first.\n");
    expect(repo.git('status', '--porcelain')).toBe('');
    expect(existsSync(join(repo.path, '.git/forge'))).toBe(false);
  });
});

describe('.forge/config.json', () => {
  it('[S31] is read at run time: a new prefix is used by the next create', async () => {
    await using project = await forgeProjectHere({ prefix: 'old' });
    const old = await project.create('old');
    await editConfig(project, { idPrefix: 'new' });
    const young = await project.create('new', '--depends-on', old.id);
    expect([old.id, young.id]).toEqual([
      expect.stringMatching(/^old-[0-9a-z]{4}$/),
      expect.stringMatching(/^new-[0-9a-z]{4}$/),
    ]);
    // Both kinds stay usable, also without the prefix.
    const shown = await Promise.all([old, young].map(({ id }) => project.show(id.slice(4))));
    expect(shown.map(({ title }) => title)).toEqual(['old', 'new']);
  });

  it('[S116][S117] settings.defaultPriority and defaultType apply where the command says nothing', async () => {
    await using project = await forgeProjectHere();
    await editConfig(project, { settings: { defaultPriority: 3, defaultType: 'bug' } });
    const [plain, said] = await Promise.all([
      project.create('plain'),
      project.create('said', '--priority', '0', '--type', 'epic'),
    ]);
    expect(plain).toMatchObject({ priority: 3, type: 'bug' });
    expect(said).toMatchObject({ priority: 0, type: 'epic' });
    await editConfig(project, { settings: { defaultPriority: 5 } });
    const failure = await project.fails('ready');
    expect(failure.exit).toBe(2);
    expect(failure.error.message).toBe(
      `${project.path}/.forge/config.json: settings.defaultPriority is 5; allowed is a whole number from 0 to 4`,
    );
  });

  it('[S118] of a newer version is refused by reads and writes, and nothing is touched', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('before');
    const replica = await project.read('.git/forge/tasks.jsonl');
    await editConfig(project, { version: 99 });
    const failures = await Promise.all([
      project.fails('ready'),
      project.fails('task', 'create', 'x'),
      project.fails('task', 'close', id, '--reason', 'x'),
    ]);
    for (const { exit, error } of failures) {
      expect(exit).toBe(5);
      expect(error).toEqual({
        code: 'schema_newer',
        message: `${project.path}/.forge/config.json was written by a newer Forge: version is 99, this Forge knows 1`,
        hint: 'Update Forge, then run the command again',
        details: { path: `${project.path}/.forge/config.json`, version: 99, known: 1 },
      });
    }
    expect(await project.read('.git/forge/tasks.jsonl')).toBe(replica);
    await editConfig(project, { version: 1 });
    expect((await project.show(id)).status).toBe('open');
  });

  it('[S118] a database with a newer schema is refused the same way', async () => {
    await using project = await forgeProjectHere();
    {
      using db = project.openDatabase();
      db.exec('PRAGMA user_version = 99; UPDATE format SET min_reader = 99, min_writer = 99');
    }
    const failures = await Promise.all([project.fails('ready'), project.fails('task', 'create', 'x')]);
    expect(failures.map(({ exit, error }) => [exit, error.code])).toEqual(Array(2).fill([5, 'schema_newer']));
  });

  it('that is broken is named with its fault, and never overwritten', async () => {
    await using project = await forgeProjectHere();
    await project.write('.forge/config.json', '{"name": ');
    const failure = await project.fails('task', 'create', 'x');
    expect(failure).toMatchObject({ exit: 2, error: { code: 'invalid_input' } });
    expect(failure.error.message).toContain(`${project.path}/.forge/config.json is not valid JSON`);
    expect(await project.read('.forge/config.json')).toBe('{"name": ');
  });
});

async function editConfig(
  project: { read(file: string): Promise<string>; write(file: string, text: string): Promise<void> },
  change: Readonly<Record<string, unknown>>,
): Promise<void> {
  const config = JSON.parse(await project.read('.forge/config.json')) as object;
  await project.write('.forge/config.json', JSON.stringify({ ...config, ...change }));
}
