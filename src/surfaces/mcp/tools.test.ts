import { describe, expect, it } from 'vitest';
import type { Declaration } from '#contract/declare.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { isForgeError } from '#kernel/errors.ts';
import { listTools } from './create-server.ts';
import { createTools, type McpTool, readCall } from './tools.ts';

const TOOLS = createTools(OPERATIONS, { severalProjects: true });

/** What the issue and the seeds name. */
const WANTED = [
  'forge_ready',
  'forge_claim',
  'forge_show',
  'forge_list',
  'forge_search',
  'forge_create_task',
  'forge_update',
  'forge_transition',
  'forge_comment',
  'forge_depend',
  'forge_close',
  'forge_wait',
  'forge_result',
  'forge_assign_agent',
  'create_task',
  'start_task_attempt',
];

describe('the tools', () => {
  it('[S133] [S351] [S366] are all there, and listed', () => {
    expect(listTools(TOOLS).map(({ name }) => name)).toEqual(expect.arrayContaining(WANTED));
  });

  it('answer to second names that cost nobody a token', () => {
    const listed = new Set(listTools(TOOLS).map(({ name }) => name));
    for (const name of ['forge_get_task', 'forge_list_tasks', 'forge_update_task', 'forge_transition_task']) {
      expect(TOOLS.has(name)).toBe(true);
      expect(listed.has(name)).toBe(false);
    }
  });

  it('say truly what they do', () => {
    const reads = [...TOOLS.values()].map(({ annotations }) => annotations.readOnlyHint);
    const declared = [...TOOLS.values()].map(
      ({ operation }) => OPERATIONS.find(({ name }) => name === operation)?.access === 'read',
    );
    expect(reads).toEqual(declared);
    expect(get('forge_ready').annotations).toEqual({ readOnlyHint: true, openWorldHint: false });
    expect(get('forge_close').annotations).toMatchObject({ readOnlyHint: false, destructiveHint: false });
  });

  it('[L10] say which of them stop or land work, and which start programs', () => {
    const where = (hint: 'destructiveHint' | 'openWorldHint') =>
      [...TOOLS.values()]
        .filter(({ listed, annotations }) => listed && annotations[hint] === true)
        .map(({ name }) => name)
        .toSorted();
    expect(where('destructiveHint')).toEqual(['forge_cancel', 'forge_transition']);
    expect(where('openWorldHint')).toEqual([
      'forge_assign_agent',
      'forge_claim',
      'forge_transition',
      'start_task_attempt',
    ]);
  });

  it('need no more than the scope of a worker, but for the one that starts a program', () => {
    const used = OPERATIONS.filter(({ name }) => [...TOOLS.values()].some((tool) => tool.operation === name));
    const exec = used.filter(({ access }) => access === 'exec').map(({ name }) => name);
    expect(exec).toEqual(['attempt.start']);
    expect(used.map(({ access }) => access)).not.toContain('admin');
  });

  it('[S387] do not reassign: no tool has the roles, an owner to set, or force', () => {
    const operations = [...TOOLS.values()].map(({ operation }) => operation);
    expect(operations).not.toContain('task.assign');
    for (const tool of TOOLS.values()) {
      if (tool.operation === undefined || tool.annotations.readOnlyHint) continue;
      expect([...tool.takes.values()]).not.toContain('force');
    }
    const assigning = [...TOOLS.values()].filter(
      ({ takes, annotations }) =>
        !annotations.readOnlyHint &&
        [...takes.values()].some((field) => ['assignee', 'agent_id'].includes(field)),
    );
    expect(assigning.map(({ name }) => name)).toEqual(['forge_assign_agent']);
    expect(failureOf(() => readCall(get('forge_update'), { id: 'a', assignee: 'me' }))).toMatchObject({
      code: 'invalid_input',
      details: { issues: [{ field: 'assignee', message: 'forge_update has no such field' }] },
    });
    expect(failureOf(() => readCall(get('forge_claim'), { id: 'a', force: true }))).toMatchObject({
      code: 'invalid_input',
    });
  });

  it('offer exactly what their declarations have, and a wrong hint is found', () => {
    const [any] = OPERATIONS;
    if (any === undefined) throw new Error('there are no operations');
    const broken = { ...any, name: 'task.broken', mcp: { tool: 'broken', fields: ['no_field'] } };
    const create = (...more: Declaration[]) =>
      createTools([...OPERATIONS, ...more], { severalProjects: false });
    expect(() => create(broken)).toThrow(/no_field, which is no field/);
    expect(() => create({ ...broken, mcp: { tool: 'forge_show' } })).toThrow(/Two tools/);
  });

  it('ask for a project only where an id does not say it, and only where there are several', () => {
    const withProject = (tools: ReadonlyMap<string, McpTool>): string[] =>
      [...tools.values()].filter(({ schema }) => 'project' in schema.properties).map(({ name }) => name);
    expect(withProject(TOOLS)).toEqual(
      expect.arrayContaining([
        'forge_create_task',
        'forge_ready',
        'forge_claim',
        'forge_list',
        'forge_search',
      ]),
    );
    expect(withProject(TOOLS)).not.toContain('forge_show');
    expect(withProject(createTools(OPERATIONS, { severalProjects: false }))).toEqual([]);
  });
});

describe('a call', () => {
  it('[S366] takes the names of the seeds', () => {
    expect(readCall(get('forge_assign_agent'), { task_id: 'fg-1', agent_id: 'w' })).toEqual({
      operation: 'task.claim',
      input: { id: 'fg-1', agent_id: 'w' },
    });
    expect(readCall(get('forge_get_task'), { task_id: 'fg-1' })).toEqual({
      operation: 'task.show',
      input: { id: 'fg-1' },
    });
    expect(readCall(get('forge_transition'), { task_id: 'fg-1', status: 'review', version: 2 })).toEqual({
      operation: 'task.transition',
      input: { id: 'fg-1', state: 'review', version: 2 },
    });
    expect(readCall(get('create_task'), { title: 'x', project: 'pb' })).toEqual({
      operation: 'task.create',
      input: { title: 'x' },
      project: 'pb',
    });
  });

  it('[S133] for an attempt starts one, by the words of the seed', () => {
    expect(readCall(get('start_task_attempt'), { task_id: 'fg-1', executor: 'CLAUDE_CODE' })).toEqual({
      operation: 'attempt.start',
      input: { id: 'fg-1', agent: 'CLAUDE_CODE' },
    });
  });

  it.each([
    [{ id: 'a', task_id: 'b' }, 'task_id: id is given twice'],
    [JSON.parse('{"id": "a", "__proto__": {"x": 1}}') as object, '__proto__: forge_show has no such field'],
    [{ id: 'a', constructor: 1 }, 'constructor: forge_show has no such field'],
    [{ id: 'a', project: 7 }, "project: a project's prefix or name"],
  ])('is refused by name: %j', (given, message) => {
    expect(failureOf(() => readCall(get('forge_show'), given as Record<string, unknown>))).toMatchObject({
      message,
    });
  });
});

function get(name: string): McpTool {
  const tool = TOOLS.get(name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool;
}

function failureOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    if (isForgeError(error)) return error;
    throw error;
  }
  return 'it did not fail';
}
