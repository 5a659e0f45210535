import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '#contract/operations.ts';
import type { Task } from '#contract/task.ts';
import { startProjectHttp } from './support/http-server.ts';
import { callByCli, callByHttp, callByMcp, type SurfaceCall } from './support/surface-callers.ts';

/** Not in the story, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'workflow.validate': 'a file on the command line, a document elsewhere',
  'workflow.set': 'a file on the command line, a document elsewhere',
  'conflict.resolve': 'needs two clones; the answer of a missing one is in the story of conflict.list',
};

type Step = readonly [operation: string, input: Readonly<Record<string, unknown>>];

/**
 * One life of a project, as steps that know the ids of the tasks made before. Every operation is called once at least.
 * What a schema refuses is not in it: a command line spells fields as flags, and says so in its errors.
 */
async function tell(call: SurfaceCall): Promise<unknown[]> {
  const answers: unknown[] = [];
  const run = async (...[operation, input]: Step): Promise<unknown> => {
    const answer = await call(operation, input);
    answers.push({ operation, answer });
    return answer;
  };
  const create = async (title: string, more: object = {}): Promise<string> =>
    ((await run('task.create', { title, ...more })) as Task).id;

  const a = await create('First "one" ✓', {
    priority: 1,
    type: 'bug',
    labels: ['x', 'y'],
    description: 'Say\nit',
  });
  const b = await create('Second', { depends_on: [a] });
  const epic = await create('Epic', {
    type: 'epic',
    priority: 3,
    metadata_set: { deep: { list: [1, null, 'x'] } },
  });
  const c = await create('Child', { parent_id: a, priority: 4, assignee: 'worker-1', github_issue: 7 });
  const steps: readonly Step[] = [
    ['task.show', { id: a }],
    ['task.show', { id: 'fg-none' }],
    ['task.ready', {}],
    ['task.ready', { limit: 1, sort: 'impact' }],
    ['task.ready', { explain: true }],
    ['task.blocked', {}],
    ['dep.add', { from_id: c, to_id: a }],
    ['dep.add', { from_id: a, to_id: c }],
    ['dep.list', { id: c }],
    ['dep.tree', { id: c }],
    ['dep.remove', { from_id: c, to_id: a }],
    // Of one task: a graph of several is drawn in the order of their ids, which are random.
    ['project.graph', { id: epic }],
    ['project.graph', { id: epic, format: 'json' }],
    ['task.update', { id: a, title: 'First', labels_add: ['z'], labels_remove: ['x'] }],
    ['task.update', { id: a, priority: 0, version: 1 }],
    ['task.update', { id: c, parent_id: null, github_issue: null }],
    ['task.claim', { next: true }],
    ['task.claim', { id: a }],
    ['task.claim', { id: b }],
    ['task.claim', { id: c, next: true }],
    ['task.heartbeat', { id: a, fence: 99 }],
    ['task.comment', { id: a, body: 'Half way' }],
    ['task.comments', { id: a }],
    ['task.wait', { id: a, status: 'in_progress', timeout_seconds: 0 }],
    ['task.wait', { id: a, timeout_seconds: 0 }],
    ['task.wait', { id: a, status: 'open', state: 'todo' }],
    ['task.transition', { id: a, state: 'blocked', reason: 'Asks' }],
    ['task.transition', { id: a, state: 'nowhere' }],
    ['inbox.list', { kind: 'stuck' }],
    ['task.release', { id: b }],
    ['task.assign', { id: b, role: 'reviewer', user: 'bob' }],
    ['task.roles', { id: b }],
    ['task.close', { id: a, reason: 'Done in abc' }],
    ['task.reopen', { id: a, reason: 'Not yet' }],
    ['task.cancel', { id: a, reason: 'No need' }],
    ['task.result', { id: a }],
    ['task.transitions', { id: a }],
    ['task.history', { id: a }],
    ['task.archive', { id: a }],
    ['task.list', {}],
    ['task.list', { all: true, sort: 'priority' }],
    ['task.unarchive', { id: a }],
    ['task.delete', { id: c }],
    ['task.restore', { id: c }],
    ['task.search', { query: 'child' }],
    ['task.search', { status: 'open', limit: 2 }],
    ['project.stats', {}],
    ['project.status', {}],
    ['project.report', { since: '2020-01-01', until: '2020-01-02' }],
    ['project.prime', {}],
    ['event.list', { limit: 3 }],
    ['workflow.show', {}],
    ['workflow.graph', {}],
    ['project.pause', {}],
    ['project.resume', {}],
    ['agent.add', { name: 'worker-1', description: 'A worker' }],
    ['agent.pause', { name: 'worker-1' }],
    ['agent.show', { name: 'worker-1' }],
    ['agent.resume', { name: 'worker-1' }],
    ['agent.list', {}],
    ['agent.token', { agent: 'worker-1' }],
    ['agent.remove', { name: 'worker-1' }],
    ['profile.add', { name: 'careful', executor: 'claude', model: 'opus', env: ['API_KEY=secret'] }],
    ['agent.add', { name: 'ada', profile: 'careful', effort: 'high', max: 3 }],
    ['agent.add', { name: 'sweeper', executor: 'shell', command: ['bash', '-c', 'x'], env: ['A=b'] }],
    ['agent.add', { name: 'sweeper', model: 'opus' }],
    ['profile.list', {}],
    ['profile.show', { name: 'careful' }],
    ['profile.remove', { name: 'careful' }],
    ['profile.remove', { name: 'none' }],
    ['executor.list', {}],
    ['task.update', { id: b, review_config: { ci_steps: ['true'], review_prompt: 'Look' } }],
    ['task.update', { id: b, review_config: { ci_steps: null } }],
    ['task.transition', { id: b, state: 'in_progress' }],
    ['task.transition', { id: b, state: 'review' }],
    ['task.review', { id: b, verdict: 'pass' }],
    ['task.assign', { id: b, role: 'reviewer', user: 'ann' }],
    ['task.review', { id: b, verdict: 'reject' }],
    [
      'task.review',
      { id: b, verdict: 'reject', reason: 'Too short', findings: ['blocker a.ts:3: It leaks'] },
    ],
    ['task.reviews', { id: b }],
    ['inbox.list', {}],
    ['task.transition', { id: b, state: 'review' }],
    ['task.review', { id: b, verdict: 'pass', findings: ['minor: A typo'] }],
    ['token.create', { scope: 'read', name: 'mine' }],
    ['token.list', {}],
    ['token.rotate', { id: 'none' }],
    ['token.revoke', { id: 'none' }],
    ['task.reviews', { id: a }],
    ['task.attempts', { id: a }],
    ['attempt.start', { id: 'fg-none', agent: 'none' }],
    ['attempt.compare', { id: a, all: true }],
    ['attempt.pick', { attempt: 'none', merge: true }],
    ['run.list', {}],
    ['run.show', { id: 'none' }],
    ['run.logs', { id: 'none', limit: 5 }],
    ['run.stop', { id: 'none' }],
    ['run.approve', { id: 'none' }],
    ['run.deny', { id: 'none', approval: 'x' }],
    ['run.forget', { id: 'none' }],
    ['run.send', { id: 'none', text: 'Hello' }],
    ['workspace.list', { all: true }],
    ['workspace.clean', { older_than: '2h' }],
    ['workspace.rescue', {}],
    ['forecast', {}],
    ['cli.list', {}],
    ['daemon.list', {}],
    ['runtime.list', {}],
    ['project.list', {}],
    ['project.remove', { name: 'none' }],
    ['repo.list', {}],
    ['skill.list', {}],
    ['batch.create', { name: 'release', ids: [b] }],
    ['batch.add', { name: 'release', ids: [epic] }],
    ['batch.show', { name: 'release' }],
    ['batch.list', {}],
    ['batch.close', { name: 'release' }],
    ['conflict.list', {}],
  ];
  for (const step of steps) await run(...step);
  return answers;
}

describe('every surface', () => {
  it('gives the same JSON for the same story', async () => {
    const [byCli, byHttp] = [await tellBy(callByCli), await tellBy(callByHttp)];
    const tools = new Set<string>();
    const byMcp = await tellBy((http) => {
      const [mcp, rest] = [callByMcp(http), callByHttp(http)];
      return (name, input) => {
        const answer = mcp(name, input);
        if (answer !== undefined) tools.add(name);
        return answer ?? rest(name, input);
      };
    });
    for (const [at, step] of byCli.entries()) {
      expect({ http: byHttp[at] }).toEqual({ http: step });
      expect({ mcp: byMcp[at] }).toEqual({ mcp: step });
    }
    expect([...tools].toSorted()).toEqual(
      OPERATIONS.flatMap(({ name, mcp }) => (mcp ? [name] : [])).toSorted(),
    );
    const told = new Set(byCli.map((step) => (step as { operation: string }).operation));
    const missing = OPERATIONS.filter(
      ({ name, local, needs }) =>
        local !== true && needs !== 'repository' && !told.has(name) && LEFT_OUT[name] === undefined,
    );
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it('would be caught if one said something else', async () => {
    const honest = await tellBy(callByHttp);
    const lying = await tellBy((http) => {
      const call = callByHttp(http);
      return async (name, input) =>
        name === 'task.close'
          ? { ...((await call(name, input)) as object), state: 'gone' }
          : call(name, input);
    });
    const differ = honest.filter((step, at) => JSON.stringify(step) !== JSON.stringify(lying[at]));
    expect(differ).toMatchObject([{ operation: 'task.close' }]);
  });
});

/** A new project each time, and everything in the answers that chance or the clock decides under a name of its own. */
async function tellBy(
  surface: (http: Awaited<ReturnType<typeof startProjectHttp>>) => SurfaceCall,
): Promise<unknown[]> {
  await using http = await startProjectHttp();
  const answers = await tell(surface(http));
  const names = new Map<string, string>();
  const text = JSON.stringify(answers)
    .replaceAll(http.root, '<root>')
    .replaceAll(String(http.env['FORGE_HOME']), '<home>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    // A line of the replica is as long as the names of who wrote it.
    .replaceAll(/("what":"replica","number":null,"bytes":)\d+/g, '$1"<bytes>"')
    .replaceAll(/fgt_[\w-]+/g, '<token>')
    .replaceAll(/"(?:id|reply_to)":"(?!fg-)([\w-]+)"/g, '"id":"<id>"')
    // Drawings spell the hyphen in their own way.
    .replaceAll(/fg(-|_|#45;)([a-z0-9]{4,})/g, (whole, hyphen: string, id: string) => {
      if (id === 'none') return whole;
      const name = names.get(id) ?? `<task ${names.size}>`;
      names.set(id, name);
      return `fg${hyphen}${name}`;
    });
  return JSON.parse(text) as unknown[];
}
