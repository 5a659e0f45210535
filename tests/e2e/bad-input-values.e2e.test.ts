import { describe, expect, test } from 'vitest';
import type { Comment } from '#contract/task.ts';
import { LIMITS } from '#kernel/limits.ts';
import { type ForgeProject } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { bringTasks, expectRefused, type Refusal, takeSnapshot } from '../support/store-snapshot.ts';

const ID = 'fg-know';
const INTEGER = 'must be a whole number';

describe('words that are not among the allowed ones', () => {
  test('every choice lists what is allowed and shows what was typed', async () => {
    await using project = await projectOfOne();
    const refusal = (args: string[], flag: string, allowed: string): Refusal => ({
      args,
      code: 'invalid_input',
      says: `${flag}: must be one of ${allowed}`,
      hint: /^forge .*--help$/,
    });
    const types = 'task, bug, feature, epic, message';
    const sorts = 'priority, created, updated, id';
    const statuses = 'open, in_progress, closed';
    await expectRefused(project, [
      refusal(['task', 'create', 'x', '--type', 'story'], '--type', `${types}, not "story"`),
      refusal(['task', 'create', 'x', '--type', ''], '--type', `${types}, not ""`),
      {
        args: ['task', 'create', 'x', '--state', 'done'],
        code: 'invalid_input',
        says: 'A task begins in todo or backlog, not in done',
        hint: 'forge workflow show',
      },
      refusal(['task', 'update', ID, '--type', 'bug,epic'], '--type', `${types}, not "bug,epic"`),
      refusal(['task', 'update', ID, '--status', 'done'], '--status', `${statuses}, not "done"`),
      refusal(['task', 'list', '--status', 'all'], '--status', `${statuses}, not "all"`),
      refusal(['task', 'list', '--sort', 'title; DROP TABLE tasks'], '--sort', `${sorts}, not "title; DROP`),
      refusal(['ready', '--sort', 'created'], '--sort', 'priority, impact, not "created"'),
      refusal(
        ['dep', 'add', ID, ID, '--type', 'needs'],
        '--type',
        'blocks, related, discovered-from, not "needs"',
      ),
      refusal(['graph', '--format', 'png'], '--format', 'mermaid, dot, json, svg, not "png"'),
      refusal(['completion', 'tcsh'], '<shell>', 'bash, zsh, fish, not "tcsh"'),
    ]);
  });
});

describe('numbers that are none, or out of bounds', () => {
  test('a priority is one of five whole numbers', async () => {
    await using project = await projectOfOne();
    const refusal = (value: string, says: string | RegExp): Refusal => ({
      args: ['task', 'create', 'x', `--priority=${value}`],
      code: 'invalid_input',
      says,
      hint: 'forge task create --help',
    });
    // Told once, whatever number of rules it breaks.
    const outside = /^--priority: must be (between 0 and 4|at most 4|at least 0)$/;
    const words = ['abc', '1.5', '1e1', '0x1', '', ' 1', '--1', 'NaN', '١'];
    const numbers = ['-1', '5', '99999999999999999999'];
    await expectRefused(project, [
      ...words.map((word) => refusal(word, `--priority: ${INTEGER}, 0 to 4, not ${JSON.stringify(word)}`)),
      ...numbers.map((number) => refusal(number, outside)),
      { args: ['task', 'update', ID, '--priority', '-1'], code: 'invalid_input', says: outside },
    ]);
    expect((await project.create('x', '--priority', '-0')).priority).toBe(0);
  });

  test('limits, depths, versions, fences and issue numbers', async () => {
    await using project = await projectOfOne();
    const refusal = (args: string[], says: string): Refusal => ({ args, code: 'invalid_input', says });
    const limits = [['ready'], ['task', 'list'], ['search'], ['blocked'], ['task', 'history', ID]];
    await expectRefused(project, [
      ...limits.map((command) =>
        refusal([...command, '--limit', '0'], '--limit: must be between 1 and 10000000'),
      ),
      refusal(['ready', '--limit', 'abc'], `--limit: ${INTEGER}, 1 to 10000000, not "abc"`),
      refusal(['ready', '--limit', ''], `--limit: ${INTEGER}, 1 to 10000000, not ""`),
      refusal(['ready', '--limit', '10000001'], '--limit: must be between 1 and 10000000'),
      refusal(['ready', '--limit', '99999999999999999999'], '--limit: must be'),
      refusal(['dep', 'tree', ID, '--depth', '-1'], '--depth: must be between 0 and 1000'),
      refusal(['dep', 'tree', ID, '--depth', '1001'], '--depth: must be between 0 and 1000'),
      refusal(['dep', 'tree', ID, '--depth', 'all'], `--depth: ${INTEGER}, 0 to 1000, not "all"`),
      refusal(['task', 'update', ID, '--priority', '1', '--version', '0'], '--version: must be at least 1'),
      refusal(['task', 'close', ID, '--reason', 'x', '--version', 'v1'], `--version: ${INTEGER}`),
      refusal(['task', 'close', ID, '--reason', 'x', '--fence', '-1'], '--fence: must be at least 0'),
      refusal(['task', 'create', 'x', '--github-issue', '0'], '--github-issue: must be at least 1 or "none"'),
      refusal(['task', 'create', 'x', '--github-issue', '#47'], `--github-issue: ${INTEGER}`),
      refusal(['task', 'create', 'x', '--github-issue', '9007199254740993'], '--github-issue: must be'),
    ]);
    expect((await project.create('x', '--github-issue', '9007199254740991')).github_issue).toBe(2 ** 53 - 1);
  });
});

describe('texts that are empty, too long or of the wrong shape', () => {
  test('[S2-F11] a title is one line that says something', async () => {
    await using project = await projectOfOne();
    const titles = ['', ' \t', '\u00a0\u3000', 'a\nb', 'a\rb', 'a\n', 'a\u2028b', 'a\u001b[31m', 'a\u202eb'];
    const refusal = (args: string[], spelling: string): Refusal => ({
      args,
      code: 'invalid_input',
      says: `${spelling}: a title is one line and not blank, without control characters`,
      hint: /^forge task (create|update) --help$/,
    });
    await expectRefused(project, [
      ...titles.map((title) => refusal(['task', 'create', title], '<title>')),
      ...['', 'a\nb'].map((title) => refusal(['task', 'update', ID, '--title', title], '--title')),
    ]);
  });

  test('a title has at most 500 characters, as long as an argument may be', async () => {
    await using project = await projectOfOne();
    const refusal = (title: string): Refusal => ({
      args: ['task', 'create', title],
      code: 'invalid_input',
      says: /^<title>: a title has at most 500 characters$/,
    });
    // Linux takes at most 128 KiB in one argument.
    await expectRefused(project, [
      refusal('a'.repeat(501)),
      refusal('😀'.repeat(501)),
      refusal('é'.repeat(60_000)),
      refusal('a'.repeat(131_000)),
    ]);
    for (const title of ['a'.repeat(500), '😀'.repeat(500)]) {
      expect((await project.show((await project.create(title)).id)).title).toBe(title);
    }
  });

  test('labels, identities, reasons and comments', async () => {
    await using project = await projectOfOne();
    const create = ['task', 'create', 'x'];
    const label = 'a label is one line without spaces around it';
    const identity = 'an identity is one line without spaces around it';
    const refusal = (args: string[], says: string | RegExp): Refusal => ({
      args,
      code: 'invalid_input',
      says,
    });
    await expectRefused(project, [
      refusal([...create, '--label', ''], `--label "": ${label}`),
      refusal([...create, '--label', 'fine', '--label', ' x'], `--label " x": ${label}`),
      refusal([...create, '--label', 'a\nb'], label),
      refusal([...create, '--label', 'l'.repeat(101)], /^--label "l+…": must have at most 100 characters$/),
      refusal([...create, ...repeat('--label', 101)], '--label: at most 100 times'),
      refusal(['task', 'update', ID, '--label-add', 'x\ty'], label),
      refusal(['task', 'update', ID, ...repeat('--label-add', 101)], '--label-add: at most 100 times'),
      refusal([...create, '--assignee', ''], `--assignee: ${identity}`),
      refusal([...create, '--assignee', 'a\u001b[31m'], `--assignee: ${identity}`),
      refusal([...create, '--assignee', 'a'.repeat(201)], '--assignee: must have at most 200 characters'),
      refusal(['claim', ID, '--assignee', ' '], `--assignee: ${identity}`),
      refusal([...create, '--actor', 'a\nb'], `--actor: ${identity}`),
      refusal([...create, '--actor', 'a'.repeat(201)], '--actor: an identity is too long'),
      refusal(['task', 'close', ID, '--reason', ' \n '], '--reason: a reason is not blank'),
      refusal(
        ['task', 'close', ID, '--reason', 'r'.repeat(2_001)],
        '--reason: must have at most 2000 characters',
      ),
      refusal(['task', 'comment', ID, ''], '<body>: a comment is not blank'),
      refusal(['search', '--query', 'q'.repeat(1_001)], '--query: must have at most 1000 characters'),
      refusal(['init', '--prefix', 'Forge'], '--prefix: a prefix is 2 to 4 lower-case letters or digits'),
      refusal(['init', '--name', 'a\nb'], '--name: a name is one line and not blank'),
    ]);
    await project.json('task', 'update', ID, ...repeat('--label-add', 100));
    await expectRefused(project, [
      refusal(
        ['task', 'update', ID, '--label-add', 'one-more'],
        'fg-know would have 101 labels; the limit is 100',
      ),
    ]);
  });

  test('identities and waits that the environment sets are checked too', async () => {
    await using project = await projectOfOne();
    await expectRefused({ ...project, ...project.with({ env: { FORGE_ACTOR: 'a\nb' } }) }, [
      {
        args: ['task', 'create', 'x'],
        code: 'invalid_input',
        says: 'FORGE_ACTOR is not an identity',
        hint: 'FORGE_ACTOR=',
      },
    ]);
    for (const wait of ['-1', '1.5']) {
      await expectRefused({ ...project, ...project.with({ env: { FORGE_LOCK_TIMEOUT_MS: wait } }) }, [
        { args: ['ready'], code: 'invalid_input', says: `FORGE_LOCK_TIMEOUT_MS is "${wait}"` },
      ]);
    }
  });
});

describe('texts from files and from standard input', () => {
  test('a description of 1 MiB is kept byte for byte', async () => {
    await using project = await projectOfOne();
    const most = LIMITS.description_bytes;
    const texts = [
      'a'.repeat(most - 1),
      'a'.repeat(most),
      'é'.repeat(most / 2),
      `${'\n'.repeat(most - 4)}😀`,
    ];
    for (const text of texts) {
      await project.write('big.md', text);
      const { id } = await project.json('task', 'update', ID, '--description-file', 'big.md');
      expect((await project.show(id)).description === text).toBe(true); // a difference of 1 MiB helps nobody
    }
    const { description } = await project
      .with({ stdin: 'a'.repeat(most) })
      .create('x', '--description-file', '-');
    expect(description).toHaveLength(most);
  });

  test('one byte more is refused', async () => {
    await using project = await projectOfOne();
    const most = LIMITS.description_bytes;
    await project.write('one-more.md', 'a'.repeat(most + 1));
    await project.write('in-bytes.md', `${'é'.repeat(most / 2)}a`);
    await project.write('huge.md', 'a'.repeat(4 * most));
    await project.write('comment.md', 'a'.repeat(LIMITS.comment_bytes + 1));
    const refusal = (file: string, says: string | RegExp): Refusal => ({
      args: ['task', 'create', 'x', '--description-file', file],
      code: 'invalid_input',
      says,
    });
    await expectRefused(project, [
      refusal('one-more.md', `--description: must have at most ${most} characters`),
      refusal('in-bytes.md', `The description takes ${most + 1} bytes; the limit is ${most}`),
      refusal('huge.md', /^--description-file: huge\.md is larger than \d+ bytes/),
      refusal('/dev/zero', /^--description-file: \/dev\/zero is larger than \d+ bytes/),
      {
        args: ['task', 'comment', ID, '--body-file', 'comment.md'],
        code: 'invalid_input',
        says: `<body>: must have at most ${LIMITS.comment_bytes} characters`,
      },
    ]);
    await expectRefused({ ...project, ...project.with({ stdin: 'a'.repeat(most + 1) }) }, [
      refusal('-', `--description: must have at most ${most} characters`),
    ]);
  });

  test('files that are not there, folders, and files that may not be read', async () => {
    await using project = await projectOfOne();
    const refusal = (file: string, says: string, code: Refusal['code'] = 'invalid_input'): Refusal => ({
      args: ['task', 'create', 'x', '--description-file', file],
      code,
      says: `--description-file${says}`,
    });
    await expectRefused(project, [
      refusal('nope.md', ': nope.md does not exist'),
      refusal('.forge', ': .forge is a folder'),
      refusal('.forge/config.json/x', ': .forge/config.json/x does not exist'),
      refusal('', ' names no file', 'usage'),
    ]);
  });

  test('bytes that are not UTF-8 are refused wherever they come from', async () => {
    await using project = await projectOfOne();
    const before = takeSnapshot(project.path);
    const files = {
      latin1: 'caf\\xe9',
      cut: 'ab\\xc3',
      surrogate: '\\xed\\xa0\\x80',
      overlong: '\\xc0\\xaf',
    };
    for (const [name, bytes] of Object.entries(files)) {
      await project.bash(`printf '${bytes}' > ${name}.md`);
    }
    const commands: [string, string][] = [
      ...Object.keys(files).map((name): [string, string] => [
        `forge task create x --description-file ${name}.md --json`,
        `--description-file: ${name}.md is not valid UTF-8`,
      ]),
      ['forge task create x --description-file - --json < latin1.md', 'Standard input is not valid UTF-8'],
      [`forge task comment ${ID} --body-file latin1.md --json`, '--body-file: latin1.md is not valid UTF-8'],
      [
        `forge task update ${ID} --meta-set k=@latin1.md --json`,
        '--meta-set k: latin1.md is not valid UTF-8',
      ],
      ["forge task create $'caf\\xe9' --json", 'Argument 3 is not valid UTF-8'],
      ["forge task create --json x --label $'\\xff'", 'Argument 6 is not valid UTF-8'],
      ["forge task show $'\\xff' --json", 'Argument 3 is not valid UTF-8'],
      ["forge --json $'\\xff'", 'Argument 2 is not valid UTF-8'],
    ];
    for (const [command, says] of commands) {
      const { stdout, exit } = await project.bash(command);
      expect.soft({ command, exit, ...errorOf(stdout) }).toMatchObject({
        command,
        exit: 2,
        code: 'invalid_input',
        message: expect.stringContaining(says),
      });
    }
    await project.bash('rm *.md');
    expect(takeSnapshot(project.path)).toEqual(before);
    // U+FFFD itself is a character like any other.
    expect((await project.create('caf\ufffd')).title).toBe('caf\ufffd');
  });

  test('a NUL is refused and named', async () => {
    await using project = await projectOfOne();
    await project.write('nul.md', 'a\0b');
    await expectRefused(project, [
      {
        args: ['task', 'create', 'x', '--description-file', 'nul.md'],
        code: 'invalid_input',
        says: '--description: the text holds a NUL character',
      },
    ]);
  });

  test('a NUL in a comment is named, not taken for a blank', async () => {
    await using project = await projectOfOne();
    await project.write('nul.md', 'a\0b');
    await expectRefused(project, [
      { args: ['task', 'comment', ID, '--body-file', 'nul.md'], code: 'invalid_input', says: /NUL/ },
    ]);
  });

  test('what is long but allowed comes back as it was', async () => {
    await using project = await projectOfOne();
    const body = `${'c'.repeat(LIMITS.comment_bytes - 1)}\n`;
    await project.write('comment.md', body);
    const comment = await project.json<Comment>('task', 'comment', ID, '--body-file', 'comment.md');
    expect(comment.body === body).toBe(true);
    const reason = 'r'.repeat(2_000);
    expect(await project.json('task', 'close', ID, '--reason', reason)).toMatchObject({
      close_reason: reason,
    });
  });
});

async function projectOfOne(): Promise<ForgeProject> {
  const project = await forgeProjectHere();
  bringTasks(project.path, [{ id: ID }]);
  await project.text('ready');
  return project;
}

function repeat(flag: string, times: number): string[] {
  return Array.from({ length: times }, (_, n) => [flag, `label-${n}`]).flat();
}

function errorOf(stdout: string): object {
  const { error } = JSON.parse(stdout) as { error: object };
  return error;
}
