import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Task, TaskView } from '#contract/task.ts';
import { startProjectHttp, type ProjectHttp } from './support/http-server.ts';
import { runTestGit } from './support/temp-repo.ts';
import { callByCli, callTool } from './support/surface-callers.ts';

/** Every way to claim a task × every reason to refuse it, over the command line, REST and MCP. */

/** External, as most are; Forge starts `coder1`. */
const AGENT = 'ext1';
const MANAGED = 'coder1';

let http: ProjectHttp;
let token: string;
beforeAll(async () => {
  http = await startProjectHttp();
  // Where there is nothing to branch from, no agent is started for another reason.
  runTestGit(http.root, ['commit', '--quiet', '--allow-empty', '-m', 'first']);
  ({ token } = await http.token('task', AGENT));
  for (const name of [AGENT, 'ext2']) await operate('agent.add', { name });
  const command = ['bash', '-c', 'touch started'];
  await operate('agent.add', { name: MANAGED, executor: 'shell', command, permissions: 'all' });
});
afterAll(async () => http[Symbol.asyncDispose]());
afterEach(async () => {
  await operate('project.resume', {});
  for (const name of [AGENT, MANAGED]) await operate('agent.resume', { name });
});

interface Answer {
  /** What the surface says of it; undefined where it has no number. */
  readonly status?: number;
  readonly code: string | undefined;
  readonly task: Partial<Task> & { claimed?: boolean };
}

interface Path {
  readonly name: string;
  /** Whom it is claimed for. */
  readonly claimer: string;
  /** A task that somebody has is no error: the agent loop goes on. */
  readonly loses?: true;
  readonly claim: (id: string) => Promise<Answer>;
}

const cli =
  (actor: string | null, operation: string, input: object) =>
  async (id: string): Promise<Answer> =>
    toAnswer(await callByCli(http, actor)(operation, { id, ...input }));

const rest =
  (as: 'person' | 'agent', method: string, path: (id: string) => string, body: object) =>
  async (id: string): Promise<Answer> => {
    const by = as === 'person' ? http.admin : token;
    const { status, json } = await http.ask({ method, path: `/api/v1${path(id)}`, token: by, body });
    return { status, ...toAnswer(status < 300 ? json : { error: json }) };
  };

const mcp =
  (as: 'person' | 'agent', tool: string, toInput: (id: string) => object) =>
  async (id: string): Promise<Answer> =>
    toAnswer(await callTool(http, { tool, input: toInput(id), token: as === 'person' ? http.admin : token }));

const FOR_AGENT = { status: 'in_progress', assignee: AGENT };
const ANN = 'user:ann';
const EXT = `agent:${AGENT}`;

const PATHS: readonly Path[] = [
  { name: 'forge claim by the agent', claimer: AGENT, claim: cli(EXT, 'task.claim', {}) },
  {
    name: 'forge claim --assignee by a person',
    claimer: AGENT,
    claim: cli(ANN, 'task.claim', { assignee: AGENT }),
  },
  {
    name: 'forge claim --agent by a person',
    claimer: AGENT,
    claim: cli(ANN, 'task.claim', { agent_id: AGENT }),
  },
  {
    name: 'forge claim --agent of one that Forge starts',
    claimer: MANAGED,
    claim: cli(ANN, 'task.claim', { agent_id: MANAGED }),
  },
  {
    name: 'forge task update by the agent',
    claimer: AGENT,
    loses: true,
    claim: cli(EXT, 'task.update', FOR_AGENT),
  },
  {
    name: 'forge task update by a person',
    claimer: AGENT,
    loses: true,
    claim: cli(ANN, 'task.update', FOR_AGENT),
  },
  {
    name: 'forge task update by whoever sits there',
    claimer: AGENT,
    loses: true,
    claim: cli(null, 'task.update', FOR_AGENT),
  },
  {
    name: 'forge run --agent',
    claimer: MANAGED,
    claim: async (id) => toAnswer(await callByCli(http, ANN)('run.start', { ids: [id], agents: [MANAGED] })),
  },
  {
    name: 'POST claim with the agent’s token',
    claimer: AGENT,
    claim: rest('agent', 'POST', (id) => `/tasks/${id}/claim`, {}),
  },
  {
    name: 'POST claim {agent_id}, as the seed sends it',
    claimer: AGENT,
    claim: rest('person', 'POST', (id) => `/tasks/${id}/claim`, { agent_id: AGENT, overrides: null }),
  },
  {
    name: 'POST claim {agent_id} of one that Forge starts',
    claimer: MANAGED,
    claim: rest('person', 'POST', (id) => `/tasks/${id}/claim`, { agent_id: MANAGED, overrides: null }),
  },
  {
    name: 'PATCH with the agent’s token',
    claimer: AGENT,
    loses: true,
    claim: rest('agent', 'PATCH', (id) => `/tasks/${id}`, FOR_AGENT),
  },
  {
    name: 'PATCH by a person',
    claimer: AGENT,
    loses: true,
    claim: rest('person', 'PATCH', (id) => `/tasks/${id}`, FOR_AGENT),
  },
  {
    name: 'PATCH by a person for one that Forge starts',
    claimer: MANAGED,
    loses: true,
    claim: rest('person', 'PATCH', (id) => `/tasks/${id}`, { ...FOR_AGENT, assignee: MANAGED }),
  },
  {
    name: 'POST attempts',
    claimer: MANAGED,
    claim: rest('person', 'POST', (id) => `/tasks/${id}/attempts`, { agent_id: MANAGED }),
  },
  { name: 'MCP forge_claim', claimer: AGENT, claim: mcp('agent', 'forge_claim', (id) => ({ id })) },
  {
    name: 'MCP forge_assign_agent',
    claimer: AGENT,
    claim: mcp('person', 'forge_assign_agent', (task_id) => ({ task_id, agent_id: AGENT })),
  },
  {
    name: 'MCP forge_assign_agent of one that Forge starts',
    claimer: MANAGED,
    claim: mcp('person', 'forge_assign_agent', (task_id) => ({ task_id, agent_id: MANAGED })),
  },
  {
    name: 'MCP start_task_attempt',
    claimer: MANAGED,
    claim: mcp('person', 'start_task_attempt', (task_id) => ({ task_id, executor: MANAGED })),
  },
];

interface Refusal {
  readonly name: string;
  readonly code: string;
  readonly status: number;
  /** A task that is refused to this claimer. */
  readonly make: (claimer: string) => Promise<string>;
}

const REFUSALS: readonly Refusal[] = [
  {
    name: '[S360] [H2] a paused project',
    code: 'project_paused',
    status: 409,
    async make() {
      await operate('project.pause', {});
      return create('Free');
    },
  },
  {
    name: '[S359] a paused agent',
    code: 'agent_paused',
    status: 409,
    async make(claimer) {
      await operate('agent.pause', { name: claimer });
      return create('Free');
    },
  },
  {
    name: '[S194] [H3] a role of another',
    code: 'role_conflict',
    status: 409,
    async make() {
      const id = await create('Kept');
      await operate('task.assign', { id, role: 'coder', agent: 'ext2' });
      return id;
    },
  },
  {
    name: '[H3] an archived task',
    code: 'state_invalid',
    status: 409,
    async make() {
      const id = await create('Old');
      await operate('task.archive', { id });
      return id;
    },
  },
  {
    name: '[H3] open blockers',
    code: 'dependency_gate',
    status: 409,
    async make() {
      return create('Waits', { depends_on: [await create('Blocker')] });
    },
  },
  {
    name: 'a parked task',
    code: 'state_invalid',
    status: 409,
    make: () => create('Later', { state: 'backlog' }),
  },
  {
    name: 'a closed task',
    code: 'state_invalid',
    status: 409,
    async make() {
      const id = await create('Over');
      await operate('task.close', { id, reason: 'done' });
      return id;
    },
  },
  {
    name: 'a task of another',
    code: 'claim_conflict',
    status: 409,
    async make() {
      const id = await create('Taken');
      await operate('task.claim', { id, assignee: 'ext2' });
      return id;
    },
  },
];

describe.each(REFUSALS)('[S393] $name', ({ code, status, make }) => {
  it.each(PATHS)('$name', async ({ claimer, claim, loses }) => {
    const id = await make(claimer);
    const before = await show(id);
    const answer = await claim(id);
    const isLost = code === 'claim_conflict' && loses === true;
    const lost = { code: undefined, task: { claimed: false, assignee: 'ext2' } };
    const refused = { code, ...('status' in answer && { status }) };
    expect(answer).toMatchObject(isLost ? lost : refused);
    expect(await show(id)).toEqual(before);
    expect(await operate('run.list', { task: id })).toEqual([]);
    expect(await operate('task.attempts', { id })).toEqual([]);
  });
});

describe('[S393] what is free', () => {
  // Those that Forge starts are started: that is shown elsewhere.
  it.each(PATHS.filter(({ claimer }) => claimer === AGENT))('is claimed by $name', async ({ claim }) => {
    const id = await create('Free');
    expect(await claim(id)).toMatchObject({ code: undefined, task: { assignee: AGENT } });
    expect(await show(id)).toMatchObject({ status: 'in_progress', assignee: AGENT });
    // And again: it is theirs already.
    expect(await claim(id)).toMatchObject({ code: undefined, task: { assignee: AGENT } });
  });

  it.each(PATHS.filter(({ claimer }) => claimer === AGENT))(
    '[S363] [S364] [L1] is, for who submitted its blocker, by $name',
    async ({ claim }) => {
      const blocker = await create('Blocker');
      const id = await create('Waits', { depends_on: [blocker] });
      await operate('task.claim', { id: blocker, assignee: AGENT });
      await operate('task.transition', { id: blocker, state: 'review' });
      // Handed over meanwhile, which changes nothing about who did the work.
      await operate('task.update', { id: blocker, assignee: 'ext2' });
      expect(await operate('task.claim', { id, assignee: 'ext2' })).toMatchObject({
        error: { code: 'dependency_gate' },
      });
      expect(await claim(id)).toMatchObject({ code: undefined, task: { assignee: AGENT } });
    },
  );

  it('is claimed by people in a paused project, on every surface', async () => {
    await operate('project.pause', {});
    const people = [
      cli(ANN, 'task.claim', {}),
      cli(ANN, 'task.update', { status: 'in_progress', assignee: 'ann' }),
      rest('person', 'POST', (id) => `/tasks/${id}/claim`, {}),
      rest('person', 'PATCH', (id) => `/tasks/${id}`, { status: 'in_progress', assignee: 'ann' }),
      mcp('person', 'forge_claim', (id) => ({ id })),
    ];
    for (const claim of people)
      expect(await claim(await create('Free'))).toMatchObject({ code: undefined, task: { assignee: 'ann' } });
  });
});

describe('[S393] a change of owner of a task in work', () => {
  const handOver = (id: string, assignee: string) =>
    rest('person', 'PATCH', (of) => `/tasks/${of}`, { assignee })(id);
  const held = async (): Promise<string> => {
    const id = await create('Held');
    await operate('task.claim', { id, assignee: 'ann' });
    return id;
  };

  it('is given to an agent', async () => {
    expect(await handOver(await held(), AGENT)).toMatchObject({ status: 200, task: { assignee: AGENT } });
  });

  it('is not taken by an agent from somebody else', async () => {
    const id = await held();
    expect(await cli(EXT, 'task.update', { assignee: AGENT })(id)).toMatchObject({ code: 'claim_conflict' });
    expect(await show(id)).toMatchObject({ assignee: 'ann' });
    const own = await create('Own');
    await operate('task.claim', { id: own, assignee: AGENT });
    expect(await cli(EXT, 'task.update', { assignee: 'ext2' })(own)).toMatchObject({
      task: { assignee: 'ext2' },
    });
  });

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['project_paused', () => operate('project.pause', {})],
    ['agent_paused', () => operate('agent.pause', { name: AGENT })],
    ['role_conflict', (id) => operate('task.assign', { id, role: 'coder', user: 'ann' })],
    ['state_invalid', (id) => operate('task.archive', { id })],
    ['dependency_gate', async (id) => operate('dep.add', { from_id: id, to_id: await create('Blocker') })],
  ])('is refused with %s', async (code, set) => {
    const id = await held();
    await set(id);
    expect(await handOver(id, AGENT)).toMatchObject({ status: 409, code });
    expect(await show(id)).toMatchObject({ assignee: 'ann' });
  });
});

describe('[S393] a move into work', () => {
  const move = (as: 'person' | 'agent') =>
    rest(as, 'POST', (id) => `/tasks/${id}/transition`, { status: 'in_progress' });

  it.each([AGENT, MANAGED])('gives %s nothing while the project is paused', async (agent) => {
    const id = await create('Given');
    await operate('task.assign', { id, role: 'coder', agent });
    await operate('project.pause', {});
    expect(await move('person')(id)).toMatchObject({ status: 409, code: 'project_paused' });
    await operate('project.resume', {});
    await operate('agent.pause', { name: agent });
    expect(await move('person')(id)).toMatchObject({ status: 409, code: 'agent_paused' });
    await operate('agent.resume', { name: agent });
    await operate('task.archive', { id });
    expect(await move('person')(id)).toMatchObject({ status: 409, code: 'state_invalid' });
    expect(await show(id)).toMatchObject({ status: 'open', assignee: null });
    expect(await operate('run.list', { task: id })).toEqual([]);
  });
});

describe('[O5] a move into work past open blockers', () => {
  const waiting = async (): Promise<string> => create('Waits', { depends_on: [await create('Blocker')] });
  const toWork = { state: 'in_progress' };
  const moves = [
    ['REST', rest('person', 'POST', (id) => `/tasks/${id}/transition`, toWork)],
    ['the command line', cli(ANN, 'task.transition', toWork)],
  ] as const;

  describe.each(moves)('by a person over %s', (_, move) => {
    it.each([AGENT, MANAGED])('is refused where it is %s who would work', async (agent) => {
      for (const give of [
        (id: string) => operate('task.update', { id, assignee: agent }),
        (id: string) => operate('task.assign', { id, role: 'coder', agent }),
      ]) {
        const id = await waiting();
        await give(id);
        expect(await move(id)).toMatchObject({ code: 'guard_rejected' });
        expect(await show(id)).toMatchObject({ status: 'open' });
        expect(await operate('run.list', { task: id })).toEqual([]);
      }
    });

    it('is a person’s own business where it is their own work', async () => {
      expect(await move(await waiting())).toMatchObject({ code: undefined, task: { status: 'in_progress' } });
    });
  });
});

describe('what an agent may not do for itself or for another', () => {
  it('[O10d] it moves nothing into work for whoever has the role, or for whom it is kept', async () => {
    const id = await create('Given');
    await operate('task.assign', { id, role: 'coder', agent: MANAGED });
    const toWork = { state: 'in_progress' };
    const ways = [
      cli(EXT, 'task.transition', toWork),
      rest('agent', 'POST', (of) => `/tasks/${of}/transition`, toWork),
      mcp('agent', 'forge_transition', (of) => ({ id: of, ...toWork })),
    ];
    // A token is for tasks of its agent only, and is refused before that.
    for (const move of ways) expect((await move(id)).code).toMatch(/^(role_conflict|permission_denied)$/);
    expect(await ways[0]?.(id)).toMatchObject({ code: 'role_conflict' });
    const kept = await create('Kept');
    await operate('task.update', { id: kept, assignee: MANAGED });
    for (const move of ways) expect((await move(kept)).code).toMatch(/^(claim_conflict|permission_denied)$/);
    expect(await ways[0]?.(kept)).toMatchObject({ code: 'claim_conflict' });
    for (const of of [id, kept]) expect(await operate('run.list', { task: of })).toEqual([]);
    const free = await create('Free');
    expect(await ways[0]?.(free)).toMatchObject({ task: { assignee: AGENT } });
  });

  it('[O10c] it takes nothing out of the archive by force; a person does', async () => {
    const id = await create('Old');
    await operate('task.archive', { id });
    for (const force of [
      cli(EXT, 'task.claim', { force: true }),
      rest('agent', 'POST', (of) => `/tasks/${of}/claim`, { force: true }),
    ])
      expect(await force(id)).toMatchObject({ code: 'permission_denied' });
    expect(await cli(ANN, 'task.claim', { force: true })(id)).toMatchObject({ task: { assignee: 'ann' } });
  });
});

describe('a pause', () => {
  it('can be read back on every surface', async () => {
    const read = async (): Promise<unknown[]> => {
      const [project] = (await http.ask({ path: '/api/v1/projects', token: http.admin })).json as object[];
      const shown = await http.ask({ path: '/api/v1/projects/fg', token: http.admin });
      const stats = (await operate('project.stats', {})) as object;
      const [listed] = (await callByCli(http, ANN)('project.list', {})) as object[];
      return [project, shown.json, stats, listed].map((one) => (one as { paused_at: unknown }).paused_at);
    };
    await operate('project.add', {});
    await callByCli(http, ANN)('project.add', {});
    expect(await read()).toEqual([null, null, null, null]);
    const { paused_at } = (await operate('project.pause', {})) as { paused_at: string };
    expect(paused_at).toEqual(expect.any(String));
    expect(await read()).toEqual(Array(4).fill(paused_at));
    await operate('project.resume', {});
    expect(await read()).toEqual([null, null, null, null]);
  });
});

describe('[S399] the counters of a task', () => {
  it('are shown wherever it is', async () => {
    const id = await create('Counted');
    await operate('task.claim', { id, assignee: AGENT });
    await operate('task.transition', { id, state: 'review' });
    // A reviewer's no, which the log keeps.
    await cli('agent:critic', 'task.transition', { state: 'in_progress' })(id);
    const counters = { attempts: 0, reviews: 1, rejections: 1 };
    expect(await show(id)).toMatchObject({ counters });
    expect(await callByCli(http, ANN)('task.show', { id })).toMatchObject({ counters });
    expect((await http.ask({ path: `/api/v1/tasks/${id}`, token: http.admin })).json).toMatchObject({
      counters,
    });
    expect(await callTool(http, { tool: 'forge_show', input: { id } })).toMatchObject({ counters });
  });
});

describe('an agent that nobody knows', () => {
  const UNKNOWN = 'nobody';

  it.each<[string, (id: string) => Promise<Answer>]>([
    ['forge claim --agent', cli(ANN, 'task.claim', { agent_id: UNKNOWN })],
    [
      'POST claim {agent_id}',
      rest('person', 'POST', (id) => `/tasks/${id}/claim`, { agent_id: UNKNOWN, overrides: null }),
    ],
    ['POST attempts', rest('person', 'POST', (id) => `/tasks/${id}/attempts`, { agent_id: UNKNOWN })],
    [
      'MCP forge_assign_agent',
      mcp('person', 'forge_assign_agent', (task_id) => ({ task_id, agent_id: UNKNOWN })),
    ],
    [
      'MCP start_task_attempt',
      mcp('person', 'start_task_attempt', (task_id) => ({ task_id, executor: UNKNOWN })),
    ],
    ['[O10b] forge task assign', cli(ANN, 'task.assign', { role: 'coder', agent: UNKNOWN })],
    ['[O10b] POST roles', rest('person', 'POST', (id) => `/tasks/${id}/roles/coder`, { agent_id: UNKNOWN })],
  ])('is an error by %s, and nothing is claimed', async (_name, claim) => {
    for (const paused of [false, true]) {
      if (paused) await operate('project.pause', {});
      const id = await create('Free');
      const before = await show(id);
      expect(await claim(id)).toMatchObject({ code: 'not_found' });
      expect(await show(id)).toEqual(before);
    }
  });

  it('may still be a person’s name', async () => {
    const id = await create('Free');
    expect(await cli(ANN, 'task.claim', { assignee: 'bob' })(id)).toMatchObject({
      task: { assignee: 'bob' },
    });
  });
});

describe('[S398] a parked task', () => {
  const AGENTS: readonly [string, (id: string) => Promise<Answer>][] = [
    ['forge task transition', cli(EXT, 'task.transition', { state: 'todo' })],
    ['forge task update --state', cli(EXT, 'task.update', { state: 'todo' })],
    ['forge task update --status --state', cli(EXT, 'task.update', { status: 'open', state: 'todo' })],
    ['forge claim --force', cli(EXT, 'task.claim', { force: true })],
    ['POST transition', rest('agent', 'POST', (id) => `/tasks/${id}/transition`, { status: 'todo' })],
    ['PATCH', rest('agent', 'PATCH', (id) => `/tasks/${id}`, { state: 'todo' })],
    ['POST claim {force}', rest('agent', 'POST', (id) => `/tasks/${id}/claim`, { force: true })],
    ['MCP forge_transition', mcp('agent', 'forge_transition', (id) => ({ id, state: 'todo' }))],
  ];

  it.each(AGENTS)('is not put into the queue by an agent: %s', async (_name, ask) => {
    // Kept for it, so that nothing else stands in its way.
    const id = await create('Later', { state: 'backlog', assignee: AGENT });
    const before = await show(id);
    expect(await ask(id)).toMatchObject({ code: 'permission_denied' });
    expect(await show(id)).toEqual(before);
  });

  it.each<[string, (id: string) => Promise<Answer>]>([
    ['forge task transition', cli(ANN, 'task.transition', { state: 'todo' })],
    ['forge task update --state', cli(ANN, 'task.update', { state: 'todo' })],
    ['PATCH', rest('person', 'PATCH', (id) => `/tasks/${id}`, { state: 'todo' })],
    ['MCP forge_transition', mcp('person', 'forge_transition', (id) => ({ id, state: 'todo' }))],
  ])('is by a person: %s', async (_name, ask) => {
    const id = await create('Later', { state: 'backlog' });
    expect(await ask(id)).toMatchObject({ code: undefined, task: { state: 'todo' } });
  });

  it('is not by an agent that closes and reopens it', async () => {
    const id = await create('Later', { state: 'backlog', assignee: AGENT });
    await cli(EXT, 'task.close', { reason: 'done' })(id);
    expect(await cli(EXT, 'task.reopen', {})(id)).toMatchObject({ code: 'permission_denied' });
    expect(await cli(EXT, 'task.update', { status: 'open' })(id)).toMatchObject({
      code: 'permission_denied',
    });
    // No move leads out of a closed task, for no actor.
    for (const actor of [EXT, ANN])
      expect(await cli(actor, 'task.transition', { state: 'todo' })(id)).toMatchObject({
        code: 'state_invalid',
      });
    expect(await cli(ANN, 'task.reopen', {})(id)).toMatchObject({ task: { state: 'todo' } });
  });
});

async function operate(name: string, input: object): Promise<unknown> {
  const path = `/api/v1/operations/${name}`;
  const { status, json } = await http.ask({ method: 'POST', path, token: http.admin, body: input });
  return status < 300 ? json : { error: json };
}

async function create(title: string, more: object = {}): Promise<string> {
  return ((await operate('task.create', { title, ...more })) as Task).id;
}

async function show(id: string): Promise<TaskView> {
  return (await operate('task.show', { id })) as TaskView;
}

function toAnswer(json: unknown): Answer {
  const { error, task, ...rest } = json as { error?: { code: string }; task?: Task };
  return { code: error?.code, task: task ?? rest };
}
