import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { forgeProjectHere } from '../support/forge-here.ts';

/**
 * The agent of the data plane's design, word for word from `while` to the end of it. Around it is what the
 * pseudocode leaves open: how it shells out, what the work is, and a sleep that ends when nothing is left.
 */
const AGENT = `
import { exec } from 'node:child_process';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(exec);

async function forge(command) {
  const { stdout } = await run('forge ' + command);
  return command.includes('--json') ? JSON.parse(stdout) : stdout;
}

async function sleep() {
  const all = await forge('search --json');
  if (all.every((task) => task.status === 'closed')) process.exit(0);
  await wait(250);
}

const agentId = process.argv[2];
const log = (word, task) => appendFileSync('work.log', [word, task.id, task.title, agentId].join('|') + '\\n');

async function doWork(task) {
  log('begin', task);
  await wait(30);
  const failed = 'failed-' + task.id;
  if (task.title === 'flaky' && !existsSync(failed)) {
    writeFileSync(failed, '');
    log('fail', task);
    throw new Error('connection refused (attempt 1)');
  }
  if (task.title === 'finds more') {
    const found = await forge(\`task create "Write unit tests for JWT middleware" --type task --priority 1 --parent \${task.id} --description "Discovered during implementation of \${task.id}." --json\`);
    await forge(\`dep add \${found.id} \${task.id} --type discovered-from\`);
  }
  log('end', task);
}

console.log = () => {};

while (true) {
    // 1. Find something to work on
    const tasks = await forge('ready --json');
    if (tasks.length === 0) {
      console.log('No ready tasks. Waiting...');
      await sleep(30_000);
      continue;
    }

    const task = tasks[0];

    // 2. Claim it atomically
    await forge(\`task update \${task.id} --status in_progress --assignee \${agentId} --json\`);

    // 3. Verify we got it (another agent might have claimed it first)
    const claimed = await forge(\`task show \${task.id} --json\`);
    if (claimed.assignee !== agentId) {
      continue; // lost the race, try next
    }

    // 4. Do the work
    try {
      await doWork(task);
      await forge(\`task close \${task.id} --reason "Completed by \${agentId}"\`);
    } catch (err) {
      // 5. On failure: release the task so another agent can try
      await forge(\`task update \${task.id} --status open --assignee none\`);
      await forge(\`task update \${task.id} --meta-set last_error="\${err.message}"\`);
    }
}
`;

describe('the agent loop of the design', () => {
  it('[S107][S108][S109][S110][S111] two agents at once finish everything, each task by one of them', async () => {
    await using project = await forgeProjectHere();
    await project.write('agent.mjs', AGENT);
    const first = await project.create('finds more', '--priority', '0');
    const flaky = await project.create('flaky', '--priority', '0');
    await Promise.all([
      project.create('a'),
      project.create('b'),
      project.create('after both', '--depends-on', first.id, '--depends-on', flaky.id),
    ]);
    const agents = ['worker-1', 'worker-2'];
    const ended = await Promise.all(
      agents.map((name) => project.exec(process.execPath, ['agent.mjs', name])),
    );
    expect(ended).toEqual(agents.map(() => ({ stdout: '', stderr: '', exit: 0 })));

    const all = await project.json<Task[]>('search');
    expect(all).toHaveLength(6);
    const log = (await project.read('work.log'))
      .trim()
      .split('\n')
      .map((line) => line.split('|') as [word: string, id: string, title: string, agent: string]);
    for (const task of all) {
      const mine = log.filter(([, id]) => id === task.id);
      // Never two at a time: what begins ends, or fails, before it begins again.
      const words = mine.map(([word]) => word).join(' ');
      expect(words).toBe(task.id === flaky.id ? 'begin fail begin end' : 'begin end');
      const worker = mine.at(-1)?.[3];
      expect(task).toMatchObject({
        status: 'closed',
        state: 'done',
        assignee: worker,
        close_reason: `Completed by ${worker}`,
      });
    }
    const titles = log.filter(([word]) => word === 'begin').map(([, , title]) => title);
    expect(titles.indexOf('after both')).toBeGreaterThan(titles.lastIndexOf('flaky'));
    expect(titles.indexOf('after both')).toBeGreaterThan(titles.indexOf('finds more'));
    expect((await project.show(flaky.id)).metadata).toEqual({ last_error: 'connection refused (attempt 1)' });

    const found = all.find(({ title }) => title === 'Write unit tests for JWT middleware');
    expect(found).toMatchObject({
      parent_id: first.id,
      dependencies: [{ id: first.id, type: 'discovered-from' }],
      created_by: 'Test User',
    });
    const history = await project.json<{ triggered_by: string; type: string }[]>('task', 'history', flaky.id);
    const claims = history.filter(({ type }) => type === 'task.claimed');
    expect(claims).toHaveLength(2);
    for (const { triggered_by } of claims) expect(triggered_by).toMatch(/^agent:worker-[12]$/);
  });

  it('[S107] whoever loses the race sees the owner, exit code 0, and nothing is changed', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('contested');
    const claim = ['task', 'update', id, '--status', 'in_progress', '--assignee'];
    expect(await project.json('task', ...claim.slice(1), 'worker-1')).toMatchObject({ claimed: true });
    const before = await project.show(id);
    const lost = await project.program.run(...claim, 'worker-2', '--json');
    expect(lost.exit).toBe(0);
    expect(JSON.parse(lost.stdout)).toMatchObject({ claimed: false, assignee: 'worker-1', id });
    expect(await project.show(id)).toEqual(before);
  });

  it('[S108] a claimed task goes back with --status open --assignee none, and is ready again', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('given back');
    await project.json('task', 'update', id, '--status', 'in_progress', '--assignee', 'worker-1');
    expect(await project.json<Task[]>('ready')).toEqual([]);
    expect(await project.text('task', 'update', id, '--status', 'open', '--assignee', 'none')).toBe(
      `Updated task ${id}: given back\nIt was worker-1's until now`,
    );
    expect(await project.json<Task[]>('ready')).toMatchObject([
      { id, status: 'open', state: 'todo', assignee: null },
    ]);
    const history = await project.json<
      { type: string; from_state: string | null; to_state: string | null }[]
    >('task', 'history', id);
    expect(history.at(-1)).toMatchObject({
      type: 'task.released',
      from_state: 'in_progress',
      to_state: 'todo',
    });
    // The plain --assignee none of the examples does the same.
    await project.json('task', 'update', id, '--status', 'in_progress', '--assignee', 'worker-1');
    await project.json('task', 'update', id, '--assignee', 'none');
    expect(await project.json<Task[]>('ready')).toMatchObject([{ id, status: 'open' }]);
  });

  it('[S109] a failure note keeps quotes, newlines and whatever else an error says', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('fails');
    const note = `Error: "it's" \`broken\`\n\tat $HOME/x.ts:1 \\ 100% = {bad} 😀`;
    await project.json('task', 'update', id, '--meta-set', `last_error=${note}`);
    expect((await project.show(id)).metadata).toEqual({ last_error: note });
    // Texts that look like JSON, or are long, come by file.
    await project.with({ stdin: '{"not": json' }).json('task', 'update', id, '--meta-set', 'last_error=@-');
    expect((await project.show(id)).metadata).toEqual({ last_error: '{"not": json' });
  });

  it('[S111] the two commands for discovered work, as they stand in the design', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('Implement JWT');
    const result = await project.bash(`
      set -eu
      new=$(forge task create "Write unit tests for JWT middleware" \\
        --type task \\
        --priority 1 \\
        --parent ${id} \\
        --description "Discovered during implementation of ${id}." \\
        --json | node -p 'JSON.parse(require("fs").readFileSync(0)).id')
      forge dep add "$new" ${id} --type discovered-from
      forge task update ${id} \\
        --meta-set spec_generated_at="2026-02-18T10:00:00.000Z" \\
        --meta-set spec_path=".forge/issues/issue-12/spec.md" \\
        --meta-set plan_approved=true \\
        --meta-set pr_url="https://github.com/org/repo/pull/9"`);
    const [child] = await project.json<Task[]>('search', '--parent', id);
    expect(result).toEqual({
      exit: 0,
      stderr: '',
      stdout: `Added: ${child?.id} was discovered from ${id}\nUpdated task ${id}: Implement JWT\n`,
    });
    expect(child).toMatchObject({ priority: 1, dependencies: [{ id, type: 'discovered-from' }] });
    const shown = await project.show(id);
    expect(shown.dependents).toMatchObject([{ id: child?.id, type: 'discovered-from' }]);
    expect(shown.metadata).toEqual({
      plan_approved: true,
      pr_url: 'https://github.com/org/repo/pull/9',
      spec_generated_at: '2026-02-18T10:00:00.000Z',
      spec_path: '.forge/issues/issue-12/spec.md',
    });
    expect(
      (await project.json<Task[]>('ready')).map((task) => task.id),
      'neither waits for the other',
    ).toEqual([child?.id, id]);
  });
});
