import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskView } from '#contract/task.ts';
import { startProjectHttp, type ProjectHttp } from './support/http-server.ts';
import { callByCli, callTool } from './support/surface-callers.ts';

/** Every way to end or take the claim of another, over the command line, REST and MCP. */

const AGENT = 'worker-8';
const OWNER = 'nina';
const NINA = `user:${OWNER}`;

let http: ProjectHttp;
let token: string;
beforeAll(async () => {
  http = await startProjectHttp();
  ({ token } = await http.token('task', AGENT));
  await operate('agent.add', { name: AGENT });
});
afterAll(async () => http[Symbol.asyncDispose]());

type Ask = (id: string) => Promise<Record<string, unknown> & { error?: { code: string; hint?: string } }>;

const cli =
  (actor: string, operation: string, input: object = {}): Ask =>
  async (id) =>
    (await callByCli(http, actor)(operation, { id, ...input })) as Awaited<ReturnType<Ask>>; // JSON of the answer

const rest =
  (as: () => string, method: string, path: (id: string) => string, body: object = {}): Ask =>
  async (id) => {
    const { status, json } = await http.ask({ method, path: `/api/v1/tasks/${path(id)}`, token: as(), body });
    return (status < 300 ? json : { error: json }) as Awaited<ReturnType<Ask>>; // as above
  };

const mcp =
  (as: () => string, tool: string, input: object = {}): Ask =>
  async (id) =>
    (await callTool(http, { tool, input: { id, ...input }, token: as() })) as Awaited<ReturnType<Ask>>; // as above

/** By its name, what ends a claim, and the command that an agent is told of. */
const WAYS: readonly (readonly [name: string, operation: string, input: object, force: string])[] = [
  ['release', 'task.release', {}, 'release'],
  ['transition to todo', 'task.transition', { state: 'todo' }, 'release'],
  ['transition to cancelled', 'task.transition', { state: 'cancelled' }, 'close'],
  ['update --status open', 'task.update', { status: 'open' }, 'release'],
  ['update --status open --state backlog', 'task.update', { status: 'open', state: 'backlog' }, 'release'],
  ['update --assignee none', 'task.update', { assignee: null }, 'release'],
  ['update --status closed', 'task.update', { status: 'closed' }, 'close'],
  ['close', 'task.close', { reason: 'done' }, 'close'],
  ['cancel', 'task.cancel', {}, 'close'],
  ['archive', 'task.archive', {}, 'release'],
];

describe('one task, one owner', () => {
  it.each(WAYS)('an agent does not end a claim by %s', async (_, operation, input, force) => {
    const id = await claimed();
    const before = await show(id);
    const { error } = await cli(`agent:${AGENT}`, operation, input)(id);
    expect(error).toMatchObject({ code: 'claim_conflict', details: { assignee: OWNER } });
    expect(error?.hint).toMatch(
      force === 'close' ? `forge task close ${id} --force` : `forge release ${id} --force`,
    );
    expect(await show(id)).toEqual(before);
  });

  it.each(WAYS.filter(([name]) => name !== 'release'))(
    'a person does by %s, and is told whose it was',
    async (_, operation, input) => {
      const id = await claimed();
      expect(await cli('user:ann', operation, input)(id)).toMatchObject({ former_owner: OWNER });
      expect(await show(id)).not.toHaveProperty('former_owner');
    },
  );

  it.each(WAYS)('its owner does by %s, and is told nothing', async (_, operation, input) => {
    const id = await claimed();
    const answer = await cli(NINA, operation, input)(id);
    expect(answer.error).toBeUndefined();
    expect(answer).not.toHaveProperty('former_owner');
  });

  it('an agent does not delete what it made and another owns; a person does', async () => {
    const { id } = (await callByCli(http, `agent:${AGENT}`)('task.create', { title: 'Made' })) as TaskView;
    await cli(NINA, 'task.claim')(id);
    expect(await cli(`agent:${AGENT}`, 'task.delete')(id)).toMatchObject({
      error: { code: 'claim_conflict' },
    });
    expect(await cli('user:ann', 'task.delete')(id)).toMatchObject({ id, former_owner: OWNER });
  });

  const byToken = (): string => token;
  it.each<[string, Ask]>([
    ['PATCH status: open', rest(byToken, 'PATCH', (id) => id, { status: 'open' })],
    ['PATCH assignee: null', rest(byToken, 'PATCH', (id) => id, { assignee: null })],
    ['POST transition', rest(byToken, 'POST', (id) => `${id}/transition`, { status: 'todo' })],
    ['POST close', rest(byToken, 'POST', (id) => `${id}/close`, { reason: 'done' })],
    ['POST cancel', rest(byToken, 'POST', (id) => `${id}/cancel`)],
    ['MCP forge_transition', mcp(byToken, 'forge_transition', { state: 'todo' })],
    ['MCP forge_close', mcp(byToken, 'forge_close', { reason: 'done' })],
    ['MCP forge_cancel', mcp(byToken, 'forge_cancel')],
  ])('the token of an agent with a role on the task does not by %s', async (_, ask) => {
    const id = await claimed();
    // So that its token may write the task.
    await operate('task.assign', { id, role: 'planner', agent: AGENT });
    const before = await show(id);
    expect(await ask(id)).toMatchObject({ error: { code: 'claim_conflict' } });
    expect(await show(id)).toEqual(before);
  });

  const byPerson = (): string => http.admin;
  it.each<[string, Ask]>([
    ['PATCH', rest(byPerson, 'PATCH', (id) => id, { status: 'open' })],
    ['POST transition', rest(byPerson, 'POST', (id) => `${id}/transition`, { status: 'todo' })],
    ['MCP forge_transition', mcp(byPerson, 'forge_transition', { state: 'todo' })],
  ])('a person does by %s, and is told whose it was', async (_, ask) => {
    const id = await claimed();
    expect(await ask(id)).toMatchObject({ status: 'open', former_owner: OWNER });
  });

  it('an agent does by --force, which the log tells', async () => {
    const id = await claimed();
    expect(await cli(`agent:${AGENT}`, 'task.release', { force: true })(id)).toMatchObject({
      assignee: null,
      former_owner: OWNER,
    });
    expect(await operate('task.transitions', { id })).toContainEqual(
      expect.objectContaining({ to_state: 'todo', trigger_reason: 'forced', triggered_by: `agent:${AGENT}` }),
    );
    const other = await claimed();
    expect(await cli(`agent:${AGENT}`, 'task.close', { force: true, reason: 'done' })(other)).toMatchObject({
      status: 'closed',
      former_owner: OWNER,
    });
    const third = await claimed();
    expect(await cli(`agent:${AGENT}`, 'task.claim', { force: true })(third)).toMatchObject({
      assignee: AGENT,
      former_owner: OWNER,
    });
  });

  it('an agent takes no reservation of another', async () => {
    const id = await create('Reserved', { assignee: OWNER });
    for (const assignee of [AGENT, null])
      expect(await cli(`agent:${AGENT}`, 'task.update', { assignee })(id)).toMatchObject({
        error: { code: 'claim_conflict', hint: `forge claim ${id} --force` },
      });
    expect(await show(id)).toMatchObject({ assignee: OWNER });
  });

  it('the claim of the agent loop that is lost is no error', async () => {
    const id = await claimed();
    const claim = { status: 'in_progress', assignee: AGENT };
    expect(await cli(`agent:${AGENT}`, 'task.update', claim)(id)).toMatchObject({
      claimed: false,
      assignee: OWNER,
    });
  });
});

describe('a move of a person past open blockers', () => {
  it('tells for what the task waits', async () => {
    const blocker = await create('Blocker');
    const id = await create('Waits', { depends_on: [blocker] });
    expect(await cli(NINA, 'task.claim')(id)).toMatchObject({ error: { code: 'dependency_gate' } });
    const moved = await cli(NINA, 'task.transition', { state: 'in_progress' })(id);
    expect(moved).toMatchObject({ state: 'in_progress', assignee: OWNER, waits_for: [blocker] });
    await operate('task.close', { id: blocker, reason: 'done' });
    const on = await cli(NINA, 'task.transition', { state: 'todo' })(id);
    expect(on).not.toHaveProperty('waits_for');
    expect(await cli(NINA, 'task.transition', { state: 'in_progress' })(id)).not.toHaveProperty('waits_for');
  });
});

describe('a closed task', () => {
  it.each(['done', 'cancelled: no'])('closed with %s leaves it only by reopening', async (reason) => {
    const id = await create('Over');
    await operate('task.close', { id, reason });
    for (const ask of [
      cli(NINA, 'task.transition', { state: 'todo' }),
      rest(
        () => http.admin,
        'POST',
        (of) => `${of}/transition`,
        { status: 'todo' },
      ),
      mcp(() => http.admin, 'forge_transition', { state: 'todo' }),
    ])
      expect(await ask(id)).toMatchObject({
        error: { code: 'state_invalid', hint: `forge task reopen ${id}` },
      });
    expect(await cli(NINA, 'task.reopen')(id)).toMatchObject({ state: 'todo' });
  });
});

async function operate(name: string, input: object): Promise<unknown> {
  const path = `/api/v1/operations/${name}`;
  const { status, json } = await http.ask({ method: 'POST', path, token: http.admin, body: input });
  return status < 300 ? json : { error: json };
}

async function create(title: string, more: object = {}): Promise<string> {
  return ((await operate('task.create', { title, ...more })) as TaskView).id;
}

async function claimed(): Promise<string> {
  const id = await create('Held');
  await cli(NINA, 'task.claim')(id);
  return id;
}

async function show(id: string): Promise<TaskView> {
  return (await operate('task.show', { id })) as TaskView;
}
