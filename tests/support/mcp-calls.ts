import { expect } from 'vitest';
import type { Task } from '#contract/task.ts';
import { LIMITS } from '#kernel/limits.ts';

/** Whatever can call a tool: the library's client, or another program that speaks for one. */
export interface ToolCaller {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<{
    content?: unknown;
    structuredContent?: unknown;
    isError?: boolean | undefined;
  }>;
}

/** The text of a tool's answer; its structured content must say the same. */
export async function callText(
  client: ToolCaller,
  name: string,
  args: Record<string, unknown>,
): Promise<string> {
  const result = await client.callTool({ name, arguments: args });
  const [content, ...more] = result.content as { type: string; text: string }[];
  expect(more).toEqual([]);
  const text = content?.text ?? '';
  const document: unknown = JSON.parse(text);
  if (text.length <= LIMITS.mcp_structured_length)
    expect(result.structuredContent).toEqual(Array.isArray(document) ? { result: document } : document);
  expect(result.isError ?? false).toBe(
    typeof document === 'object' && document !== null && 'error' in document,
  );
  return text;
}

/** A tool that must succeed. */
export async function callTool<T>(
  client: ToolCaller,
  name: string,
  args: Record<string, unknown> = {},
): Promise<T> {
  const document = JSON.parse(await callText(client, name, args)) as T;
  expect({ name, document }).not.toMatchObject({ document: { error: expect.anything() as unknown } });
  return document;
}

/** One story that calls every tool, and what each has to answer; `agent` is registered. Returns their names. */
export async function everyTool(client: ToolCaller, agent: string): Promise<string[]> {
  const called: string[] = [];
  const call = <T = Task>(name: string, args: Record<string, unknown> = {}): Promise<T> => {
    called.push(name);
    return callTool<T>(client, name, args);
  };
  const first = await call('forge_create_task', { title: 'First', type: 'bug', priority: 1, labels: ['x'] });
  const second = await call('create_task', { title: 'Second', description: 'as the seed says' });
  expect(second).toMatchObject({ status: 'open', state: 'todo', description: 'as the seed says' });
  expect(await call('forge_depend', { from_id: second.id, to_id: first.id })).toMatchObject({ added: true });
  expect(await call<Task[]>('forge_ready')).toMatchObject([{ id: first.id }]);
  expect(await call('forge_claim', { next: true })).toMatchObject({ id: first.id, claimed: true });
  expect(await call('forge_release', { id: first.id, reason: 'later' })).toMatchObject({ status: 'open' });
  expect(await call('forge_assign_agent', { task_id: first.id, agent_id: agent })).toMatchObject({
    assignee: agent,
    status: 'in_progress',
  });
  expect(await call('forge_update', { id: first.id, priority: 0, labels_add: ['y'] })).toMatchObject({
    priority: 0,
    labels: ['x', 'y'],
  });
  expect(await call('forge_comment', { id: first.id, body: 'half way' })).toMatchObject({
    task_id: first.id,
  });
  expect(await call('forge_show', { id: first.id })).toMatchObject({ comments: [{ body: 'half way' }] });
  expect(await call<Task[]>('forge_list', { label: 'y' })).toMatchObject([{ id: first.id }]);
  expect(await call<Task[]>('forge_search', { query: 'seed says' })).toMatchObject([{ id: second.id }]);
  expect(await call('forge_transition', { id: first.id, state: 'blocked', reason: 'asks' })).toMatchObject({
    state: 'blocked',
  });
  expect(await call('forge_wait', { id: first.id, state: 'blocked', timeout_seconds: 0 })).toMatchObject({
    state: 'blocked',
  });
  expect(await call('forge_close', { id: first.id, reason: 'done' })).toMatchObject({ status: 'closed' });
  expect(await call('forge_result', { id: first.id })).toMatchObject({
    finished: true,
    close_reason: 'done',
    comments: [{ body: 'half way' }],
  });
  const third = await call('forge_create_task', { title: 'Third' });
  expect(await call('forge_cancel', { id: third.id, reason: 'no need' })).toMatchObject({ status: 'closed' });
  const attempt = await callText(client, 'start_task_attempt', { task_id: second.id, executor: 'nobody' });
  called.push('start_task_attempt');
  // Over stdio nobody stays to watch it; a server does, and knows no such agent here.
  expect(['not_available', 'not_found']).toContain(
    (JSON.parse(attempt) as { error: { code: string } }).error.code,
  );
  const verdict = await callText(client, 'forge_review', { id: second.id, verdict: 'pass' });
  called.push('forge_review');
  // Nothing waits for it, and an agent would not be the one to say it.
  expect(['state_invalid', 'permission_denied']).toContain(
    (JSON.parse(verdict) as { error: { code: string } }).error.code,
  );
  return [...new Set(called)];
}
