import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskView } from '#contract/task.ts';
import { forgeProject, type ForgeProject } from '../support/forge-cli.ts';
import { setWalls, WALLS } from '../support/walls.ts';

let project: ForgeProject;
beforeAll(async () => {
  project = await forgeProject();
  mkdirSync(join(project.home, 'said'));
  await project.write('README.md', 'first\n');
  project.git('add', '-A');
  project.git('commit', '-qm', 'first');
});
afterAll(() => project[Symbol.asyncDispose]());

/** Runs the commands as an agent of its own, each with what it ended with and said; `ID` is the task, `OTHER` another. */
async function sayInside(
  commands: readonly string[],
  flags: readonly string[] = [],
): Promise<{ readonly id: string; readonly other: string; readonly said: readonly string[] }> {
  const [task, other] = [await project.create('Mine', ...flags), await project.create('Not mine')];
  const out = join(project.home, 'said', task.id);
  const lines = commands.map((command) => {
    const filled = command
      .replaceAll('OTHER', other.id)
      .replaceAll('ID', task.id)
      .replaceAll('ROOT', project.path);
    return `text=$( { ${filled} ; } 2>&1 ); echo "$?: $(printf %s "$text" | head -1)" >> '${out}'`;
  });
  const agent = `a${task.id.slice(3)}`;
  const script = join(project.home, `${agent}.sh`);
  // A check that fails brings it back; once is enough.
  const once = `[ -e '${out}' ] && exit`;
  writeFileSync(script, [once, `echo x > ${task.id}`, ...lines].join('\n'));
  const words = ['bash', script].map((word) => `--command=${word}`);
  await project.json('agent', 'add', agent, '--executor', 'shell', ...words);
  await project.run('run', task.id, '--agent', agent);
  return { id: task.id, other: other.id, said: readFileSync(out, 'utf8').trimEnd().split('\n') };
}

const BARE = 'env -i PATH="$PATH" HOME="$HOME"';

describe.each(WALLS)('[A2] [H4] an agent inside of its run, with walls %s', (walls) => {
  beforeAll(() => setWalls(project.home, walls, [join(project.home, 'said')]));

  it('comments, notes and writes down work as itself', async () => {
    const { id, said } = await sayInside(
      [
        'forge task comment ID "half way"',
        'forge task update ID --meta-set progress=half --label-add slow',
        'forge task create "Found it" --parent ID',
        'FORGE_ACTOR=user:ann forge task comment ID "as somebody else"',
        'forge task show ID --json',
        'forge whereami',
        'forge doctor | grep -E "^ok +(guard|walls)" | sed "s/  */ /g" | tr "\\n" ";"',
      ],
      ['--ci-step', 'test -e README.md'],
    );
    expect(said.map((line) => line.split(':')[0])).toEqual(['0', '0', '0', '0', '0', '0', '0']);
    const unseen = 'not looked at: this is inside of a run;';
    expect(said.at(-1)).toBe(`0: ok guard ${unseen}ok walls ${unseen}`);
    const task = await project.show(id);
    const author = `a${id.slice(3)}`;
    expect(task.comments.map((comment) => comment.author)).toEqual([author, author]);
    expect(task.metadata).toMatchObject({ progress: 'half' });
    const [found] = task.subtasks;
    // What gates its own work gates what it hands on.
    const review_config = { ci_steps: ['test -e README.md'] };
    expect(await project.show(found?.id ?? '')).toMatchObject({ created_by: author, review_config });
  });

  const REFUSED = [
    'forge task update ID --ci-step none',
    'forge task update ID --description easy',
    'forge task close ID --reason done --force',
    'forge task transition ID merging',
    'forge task cancel ID',
    'forge task assign ID reviewer --user me',
    'forge task comment OTHER hello',
    'forge task update OTHER --label-add x',
    'forge task delete OTHER',
    'forge claim OTHER',
    'forge release ID',
    'forge project pause',
    'forge workflow set /dev/null',
    'forge runs approve "$FORGE_RUN_ID"',
    'forge runs stop "$FORGE_RUN_ID"',
    'forge run OTHER --agent x',
    'forge token create --scope admin',
    'forge agent token x',
    'forge agent add x --executor shell --command true',
    'forge agent remove x',
    'forge agent pause x',
    'forge agent resume x',
    'forge profile add x --executor claude',
    'forge trust --yes',
    'forge review ID pass',
    'forge review ID pass --force --actor user:ann',
    'forge task create x --ci-step true',
    'forge task create x --parent OTHER',
    // Without the names that a run has in its environment.
    ...['agent add x --executor shell --command true', 'profile add x --executor claude', 'trust --yes'].map(
      (command) => `env -u FORGE_RUN_ID -u FORGE_ATTEMPT_ID -u FORGE_SOCKET forge -C ROOT ${command}`,
    ),
    ...['review ID pass --force', 'task update ID --ci-step true', 'trust --yes'].map(
      (command) => `${BARE} FORGE_ACTOR=user:ann forge -C ROOT ${command}`,
    ),
    // With the names alone.
    ...['agent add x --executor shell --command true', 'trust --yes', 'review ID pass'].map(
      (command) => `${BARE} FORGE_RUN_ID=x FORGE_HOME=/tmp/none forge -C ROOT ${command}`,
    ),
    'forge uninstall --yes',
    'forge doctor --fix',
    'forge export',
    'forge serve --port 0',
    'forge --server http://127.0.0.1:9 task close ID --reason x',
    'forge --actor user:ann task comment ID x',
    `FORGE_SOCKET= forge task update ID --ci-step none`,
    `${BARE} forge task update ID --ci-step none`,
    `${BARE} forge -C ROOT task update ID --ci-step none`,
    `${BARE} FORGE_HOME=/tmp/none forge -C ROOT task create x`,
    `${BARE} FORGE_HOME=/tmp/none forge -C ROOT uninstall --yes`,
    `${BARE} forge token create --scope admin`,
    `${BARE} setsid -w forge -C ROOT task create x`,
  ];

  it('can do nothing that is for a person, by no way that leads there', async () => {
    const before = (await project.json<readonly unknown[]>('task', 'list', '--all')).length;
    const { id, other, said } = await sayInside(REFUSED, ['--ci-step', 'exit 3']);
    const through = REFUSED.filter((_, at) => !/^[1-9]\d*: forge: /.test(said[at] ?? ''));
    expect(through).toEqual([]);
    // Planted: the same commands outside would have gone through.
    expect((await project.json<readonly unknown[]>('task', 'list', '--all')).length).toBe(before + 2);
    expect(await project.show(id)).toMatchObject({ review_config: { ci_steps: ['exit 3'] }, comments: [] });
    expect(await project.show(other)).toMatchObject({
      state: 'todo',
      comments: [],
    } satisfies Partial<TaskView>);
    expect(existsSync(join(project.path, '.forge'))).toBe(true);
    expect((await project.run('task', 'update', id, '--ci-step', 'none')).exit).toBe(0);
  });

  it.runIf(walls === WALLS[0])('leaves no socket behind', async () => {
    const { said } = await sayInside(['test -S "$FORGE_SOCKET" && echo "$FORGE_SOCKET"']);
    const path = said[0]?.replace('0: ', '') ?? '';
    expect(path).toMatch(/sock$/);
    expect(existsSync(path)).toBe(false);
  });

  it.runIf(walls === WALLS[0])('speaks MCP by the same way', async () => {
    const call = (id: number, name: string, args: object): string =>
      JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });
    const hello = JSON.stringify({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '0' } },
    });
    const ready = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const lines = [
      hello,
      ready,
      call(1, 'forge_comment', { id: 'ID', body: 'by mcp' }),
      call(2, 'forge_cancel', { id: 'ID' }),
    ];
    const out = `${project.home}/said/mcp-${walls}`;
    const feed = lines.map((line) => `echo '${line}'`).join('; ');
    const { id } = await sayInside([`{ ${feed}; sleep 3; } | forge mcp > '${out}'`]);
    const answers = readFileSync(out, 'utf8');
    expect(answers).toContain('permission_denied');
    expect(await project.show(id)).toMatchObject({
      comments: [{ body: 'by mcp', author: `a${id.slice(3)}` }],
    });
  });
});

describe('[B2] an agent that names itself outside of a run', () => {
  it.each([
    ['workflow', 'set', '--default'],
    ['token', 'create', '--scope', 'admin'],
    ['agent', 'add', 'another', '--executor', 'shell', '--command=true'],
    ['project', 'pause'],
    ['uninstall', '--yes'],
    ['import', 'README.md'],
  ])('does not decide what agents may do: forge %s %s', async (...command) => {
    const agent = project.with({ env: { FORGE_ACTOR: 'ext' } });
    expect(await agent.fails(...command)).toMatchObject({ exit: 6 });
    expect(existsSync(join(project.path, '.forge'))).toBe(true);
  });

  it('does not take the checks of a task away, nor its reviewer, and then close it', async () => {
    const { id } = await project.create('Gated', '--ci-step', 'false');
    await project.json('task', 'assign', id, 'reviewer', '--user', 'ann');
    const agent = project.with({ env: { FORGE_ACTOR: 'ext' } });
    await agent.json('claim', id);
    for (const command of [
      ['task', 'update', id, '--ci-step', 'none'],
      ['task', 'assign', id, 'reviewer', '--agent', 'ext'],
      ['task', 'close', id, '--reason', 'done'],
    ])
      expect(await agent.fails(...command)).toMatchObject({ exit: 6 });
    expect(await project.show(id)).toMatchObject({ review_config: { ci_steps: ['false'] } });
  });
});
