import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { AcpSession, type AcpSessionOptions } from './acp-session.ts';
import { ClaudeSession } from './claude-session.ts';
import { CodexSession, type CodexSessionOptions } from './codex-session.ts';
import type { Fields } from './fields.ts';
import { UNKNOWN_USAGE, type ProtocolSession, type SessionStep } from './session.ts';

const clock = { now: () => Date.UTC(2026, 0, 1) };
let ids = 0;
const createId = (): string => `m${(ids += 1)}`;

/** What the session writes, as objects. */
function written(steps: readonly SessionStep[]): Fields[] {
  return steps.flatMap((step) => (step.do === 'write' ? [JSON.parse(step.line) as Fields] : []));
}

function take(session: ProtocolSession, message: object): readonly SessionStep[] {
  return session.take(JSON.stringify(message));
}

function names(steps: readonly SessionStep[]): string[] {
  return steps.map((step) => step.do);
}

describe('ClaudeSession', () => {
  function open(): ClaudeSession {
    const session = new ClaudeSession({ prompt: 'go', session_id: 's1', clock, createId });
    session.begin();
    return session;
  }

  const RESULT = {
    type: 'result',
    is_error: false,
    result: 'ok',
    usage: { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 5, cache_creation_input_tokens: 0 },
  };

  const SESSION_COST = { usd: 3, of: 'session' };

  it('stays for the turns that an older Claude counts; tokens are added, the cost is that of the session', () => {
    const session = open();
    expect(written(session.send('and this'))[0]).toMatchObject({ type: 'user' });
    const first = take(session, { ...RESULT, total_cost_usd: 1, queued_turn_count: 1 });
    expect(names(first)).not.toContain('finish');
    const second = take(session, { ...RESULT, total_cost_usd: 3, queued_turn_count: 0 });
    expect(names(second)).toContain('finish');
    expect(session.report()).toMatchObject({
      finished: true,
      usage: { input_tokens: 30, output_tokens: 2, cached_tokens: 10, cost: SESSION_COST },
    });
  });

  /** As Claude 2.1 says it: each message by its name. */
  function send(session: ClaudeSession, text: string): string {
    return String(written(session.send(text))[0]?.['uuid']);
  }
  const lifecycle = (command_uuid: string, state: string) => ({
    type: 'command_lifecycle',
    command_uuid,
    state,
  });
  const resultOf = (...uuids: string[]) => ({
    ...RESULT,
    user_message_uuids: uuids,
    queued_turn_count: 0,
  });

  it.each([
    ['queued before the result', ['queued'], []],
    ['queued after the result', [], ['queued']],
    ['begun with before the result', ['queued', 'started'], ['started']],
  ])(
    '[A9] waits for the answer to a message that is %s and that no result counts',
    (_when, before, after) => {
      const session = open();
      const prompt = `m${ids}`;
      take(session, lifecycle(prompt, 'started'));
      const uuid = send(session, 'and this');
      for (const state of before.filter((one) => one === 'queued')) take(session, lifecycle(uuid, state));
      expect(names(take(session, resultOf(prompt)))).toEqual(['usage']);
      expect(session.report()).toMatchObject({ finished: false, unheard: ['and this'] });
      for (const state of after) take(session, lifecycle(uuid, state));
      take(session, lifecycle(uuid, 'started'));
      expect(session.report().unheard).toBeUndefined();
      expect(names(take(session, resultOf(uuid)))).toEqual(['usage', 'finish']);
    },
  );

  it('[A9] is done with the one result of several messages that were merged', () => {
    const session = open();
    const prompt = `m${ids}`;
    const [one, two] = [send(session, 'one'), send(session, 'two')];
    expect(names(take(session, resultOf(prompt, one, two)))).toContain('finish');
  });

  it.each(['cancelled', 'discarded', 'refused'])(
    '[A9] ends with a message that is %s, and keeps it',
    (state) => {
      const session = open();
      const prompt = `m${ids}`;
      const uuid = send(session, 'and this');
      take(session, lifecycle(uuid, 'queued'));
      take(session, resultOf(prompt));
      expect(names(take(session, lifecycle(uuid, state)))).toEqual(['finish']);
      expect(session.report().unheard).toEqual(['and this']);
    },
  );

  it('does not begin with what is queued when it is stopped', () => {
    const session = open();
    const prompt = `m${ids}`;
    take(session, lifecycle(send(session, 'and this'), 'queued'));
    session.interrupt();
    expect(names(take(session, { ...resultOf(prompt), is_error: true }))).toContain('finish');
    expect(session.report().unheard).toEqual(['and this']);
  });

  it('[A12] tells what a turn uses while it works, each message once, and takes the result for it then', () => {
    const session = open();
    const say = (id: string, text: string) =>
      take(session, {
        type: 'assistant',
        message: {
          id,
          model: 'claude-opus-5-5',
          content: [{ type: 'text', text }],
          usage: { ...RESULT.usage, output_tokens: 1 },
        },
      });
    expect(names(say('a', 'x'.repeat(400)))).toEqual(['tell', 'usage']);
    say('a', 'x'.repeat(400));
    say('b', '');
    const { usage } = session.report();
    expect(usage).toMatchObject({
      input_tokens: 30,
      cached_tokens: 10,
      cost: null,
      model: 'claude-opus-5-5',
    });
    // What is written is not known while it is: by its length it is more than the two that are said.
    expect(usage.output_tokens).toBeGreaterThan(200);
    expect(usage.since_cost?.input_tokens).toBe(30);
    const models = {
      m: { inputTokens: 20, cacheReadInputTokens: 10, outputTokens: 40 },
      n: { inputTokens: 7 },
    };
    take(session, { ...RESULT, total_cost_usd: 3, model_usage_since_last_result: models });
    expect(session.report().usage).toMatchObject({
      input_tokens: 37,
      output_tokens: 40,
      cached_tokens: 10,
      cost: SESSION_COST,
      since_cost: null,
    });
  });

  it('keeps unknown what Claude does not say', () => {
    const session = open();
    take(session, { type: 'result', is_error: false });
    expect(session.report().usage).toEqual(UNKNOWN_USAGE);
  });

  it('notes a session that is another than the one it was given', () => {
    const session = open();
    expect(take(session, { type: 'system', subtype: 'init', session_id: 's1' })).toEqual([]);
    expect(take(session, { type: 'system', subtype: 'init', session_id: 's2' })).toEqual([
      { do: 'session', id: 's2' },
    ]);
  });

  it('fails where the session to go on with is gone', () => {
    const session = open();
    const errors = ['No conversation found with session ID: s1'];
    take(session, { type: 'result', subtype: 'error_during_execution', is_error: true, errors });
    expect(session.report().failure).toEqual({ outcome: 'failed', message: errors[0] });
  });

  it('fails where the program refuses to begin', () => {
    const session = open();
    const steps = take(session, {
      type: 'control_response',
      response: { subtype: 'error', request_id: 'forge-1', error: 'too old' },
    });
    expect(names(steps)).toContain('finish');
    expect(session.report().failure?.message).toBe('Claude refused to start: too old');
  });

  it('gave up when the refusal by its own rules was the last that happened, and not when something worked since', () => {
    const refused = {
      type: 'user',
      message: { content: [{ type: 'tool_result', tool_use_id: 't1', is_error: true, content: 'denied' }] },
    };
    const worked = {
      type: 'user',
      message: {
        content: [{ type: 'tool_result', tool_use_id: 't2', content: [{ type: 'text', text: 'ok' }] }],
      },
    };
    const result = { ...RESULT, permission_denials: [{ tool_use_id: 't1' }] };
    const [given_up, found_a_way] = [open(), open()];
    for (const message of [worked, refused, result]) take(given_up, message);
    for (const message of [refused, worked, result]) take(found_a_way, message);
    expect(given_up.report()).toMatchObject({ denials: 1, gave_up: true });
    expect(found_a_way.report()).toMatchObject({ denials: 1, gave_up: false });
  });

  it('refuses requests that are not for it, and ignores answers that nobody waits for', () => {
    const session = open();
    const steps = take(session, {
      type: 'control_request',
      request_id: 'x',
      request: { subtype: 'hook_callback' },
    });
    expect(written(steps)[0]).toMatchObject({ response: { subtype: 'error', request_id: 'x' } });
    expect(session.answer('nobody', 'allowed', '')).toEqual([]);
    expect(session.report().denials).toBe(0);
  });

  it('tells the work of its helpers, but takes their words for nobody’s last', () => {
    const session = open();
    take(session, { type: 'assistant', message: { content: [{ type: 'text', text: 'mine' }] } });
    take(session, {
      type: 'assistant',
      parent_tool_use_id: 't1',
      message: { content: [{ type: 'text', text: 'of a helper' }] },
    });
    expect(session.report().last_message).toBe('mine');
  });

  it('tells that the provider is tried again, and fails by nothing that was mended', () => {
    const session = open();
    const steps = take(session, {
      type: 'system',
      subtype: 'api_retry',
      error_status: 529,
      error: 'overloaded',
    });
    expect(steps[0]).toMatchObject({ entry: { kind: 'note', text: expect.stringContaining('529') } });
    take(session, RESULT);
    expect(session.report().failure).toBeUndefined();
  });
});

describe('CodexSession', () => {
  function open(more: Partial<CodexSessionOptions> = {}): CodexSession {
    const session = new CodexSession({
      prompt: 'go',
      cwd: '/w',
      resume: undefined,
      model: undefined,
      effort: undefined,
      approval_policy: 'on-request',
      sandbox: 'workspace-write',
      output_schema: undefined,
      version: '0',
      clock,
      ...more,
    });
    session.begin();
    return session;
  }

  function openTurn(more: Partial<CodexSessionOptions> = {}): CodexSession {
    const session = open(more);
    take(session, { id: 1, result: { userAgent: 'x' } });
    take(session, { id: 2, result: { thread: { id: 'th' } } });
    take(session, { id: 3, result: { turn: { id: 'tu' } } });
    return session;
  }

  it('opens a thread by its rules and starts a turn with the prompt, effort and schema', () => {
    const session = open({ model: 'm', effort: 'high', output_schema: { type: 'object' } });
    const thread = written(take(session, { id: 1, result: {} }));
    expect(thread).toMatchObject([
      { method: 'initialized' },
      {
        method: 'thread/start',
        params: { cwd: '/w', approvalPolicy: 'on-request', sandbox: 'workspace-write', model: 'm' },
      },
    ]);
    const [turn] = written(take(session, { id: 2, result: { thread: { id: 'th' } } }));
    expect(turn).toMatchObject({
      method: 'turn/start',
      params: {
        threadId: 'th',
        effort: 'high',
        outputSchema: { type: 'object' },
        input: [{ type: 'text', text: 'go' }],
      },
    });
    expect(turn).not.toHaveProperty('jsonrpc');
  });

  it('fails where the thread to go on with is gone', () => {
    const session = open({ resume: 'gone' });
    take(session, { id: 1, result: {} });
    const steps = take(session, { id: 2, error: { code: -32_600, message: 'no rollout found' } });
    expect(names(steps)).toContain('finish');
    expect(session.report().failure?.message).toBe('Codex could not resume the thread: no rollout found');
  });

  it('says a message in a turn of its own when the turn at work did not take it', () => {
    const session = openTurn();
    const [steer] = written(session.send('also this'));
    expect(steer).toMatchObject({ method: 'turn/steer', params: { expectedTurnId: 'tu' } });
    expect(take(session, { id: steer?.['id'], error: { code: -1, message: 'not steerable' } })).toEqual([]);
    const steps = take(session, {
      method: 'turn/completed',
      params: { turn: { id: 'tu', status: 'completed' } },
    });
    expect(written(steps)[0]).toMatchObject({
      method: 'turn/start',
      params: { input: [{ text: 'also this' }] },
    });
    expect(session.report().finished).toBe(false);
  });

  it.each(['refused', 'taken'])(
    'waits, when the turn ends meanwhile, to hear that a message was %s',
    (what) => {
      const session = openTurn();
      const [steer] = written(session.send('also this'));
      const ended = take(session, {
        method: 'turn/completed',
        params: { turn: { id: 'tu', status: 'completed' } },
      });
      expect(names(ended)).toEqual(['usage']);
      const answer = what === 'taken' ? { result: {} } : { error: { code: -1, message: 'no turn' } };
      const steps = take(session, { id: steer?.['id'], ...answer });
      expect(names(steps)).toEqual([what === 'taken' ? 'finish' : 'write']);
      expect(session.report().finished).toBe(what === 'taken');
    },
  );

  it('holds a message back until there is a turn', () => {
    const session = open();
    expect(session.send('early')).toEqual([]);
  });

  it('asks a person where more than one change is wanted', () => {
    const session = openTurn();
    const params = { itemId: 'i', grantRoot: '/' };
    const [step] = take(session, { id: 9, method: 'item/fileChange/requestApproval', params });
    expect(step).toMatchObject({ do: 'ask', ask: { kind: 'other' } });
  });

  it.each([
    ['item/permissions/requestApproval', { permissions: {}, scope: 'turn' }],
    ['item/tool/requestUserInput', { answers: {} }],
    ['mcpServer/elicitation/request', { action: 'decline', content: null }],
  ])('refuses %s in the words that it has', (method, result) => {
    expect(written(take(openTurn(), { id: 9, method, params: {} }))).toEqual([{ id: 9, result }]);
  });

  it('refuses what it does not know', () => {
    const [answer] = written(take(openTurn(), { id: 'a', method: 'attestation/generate', params: {} }));
    expect(answer).toMatchObject({ id: 'a', error: { code: -32_601 } });
  });

  it.each([
    [{ codexErrorInfo: 'tooManyDenials' }, 'denied'],
    [{ codexErrorInfo: { httpConnectionFailed: { httpStatusCode: 401 } } }, 'auth'],
    [{ codexErrorInfo: { responseTooManyFailedAttempts: { httpStatusCode: 429 } } }, 'usage_limit'],
    [{ codexErrorInfo: 'contextWindowExceeded' }, 'failed'],
    [null, 'failed'],
  ])('ends a failed turn with %j as %s', (error, outcome) => {
    const session = openTurn();
    const turn = { id: 'tu', status: 'failed', error: error && { message: 'no', ...error } };
    take(session, { method: 'turn/completed', params: { turn } });
    expect(session.report().failure?.outcome).toBe(outcome);
  });

  it('notes an error that is tried again, and nothing more', () => {
    const session = openTurn();
    const params = { error: { message: 'stream lost', codexErrorInfo: 'other' }, willRetry: true };
    expect(take(session, { method: 'error', params })[0]).toMatchObject({ entry: { kind: 'note' } });
    expect(session.report().failure).toBeUndefined();
  });

  it('ends as unavailable where it only connects again for too long, and not where it worked between', () => {
    let now = 0;
    const session = openTurn({ clock: { now: () => now } });
    const retry = (at: number): readonly SessionStep[] => {
      now = at;
      const error = { message: 'Reconnecting... 1/5', codexErrorInfo: 'other' };
      return take(session, { method: 'error', params: { error, willRetry: true } });
    };
    const most = LIMITS.reconnect_ms;
    expect(retry(0)).toHaveLength(1);
    expect(retry(most - 1)).toHaveLength(1);
    take(session, { method: 'item/started', params: { item: { type: 'reasoning', id: 'i' } } });
    expect(retry(most)).toHaveLength(1);
    expect(retry(2 * most - 1)).toHaveLength(1);
    expect(retry(2 * most).at(-1)).toEqual({ do: 'finish' });
    expect(session.report()).toMatchObject({
      failure: {
        outcome: 'unavailable',
        message: 'Codex could not reach its provider for 5 minutes: Reconnecting... 1/5',
      },
    });
  });
});

describe('AcpSession', () => {
  function open(more: Partial<AcpSessionOptions> = {}): AcpSession {
    const session = new AcpSession({
      prompt: 'go',
      cwd: '/w',
      resume: undefined,
      model: undefined,
      mode: undefined,
      output_schema: undefined,
      version: '0',
      clock,
      ...more,
    });
    session.begin();
    return session;
  }

  function openPrompt(more: Partial<AcpSessionOptions> = {}): AcpSession {
    const session = open(more);
    take(session, { id: 1, result: { protocolVersion: 1 } });
    take(session, { id: 2, result: { sessionId: 's' } });
    return session;
  }

  it('sets the mode in which it asks, and the model where that is offered, before the prompt', () => {
    const session = open({ mode: 'default', model: 'm' });
    take(session, { id: 1, result: {} });
    const steps = take(session, {
      id: 2,
      result: {
        sessionId: 's',
        modes: { currentModeId: 'auto', availableModes: [{ id: 'auto' }, { id: 'default' }] },
        configOptions: [{ id: 'pick-model', category: 'model' }],
      },
    });
    expect(written(steps)).toMatchObject([
      { method: 'session/set_mode', params: { sessionId: 's', modeId: 'default' } },
      { method: 'session/set_config_option', params: { configId: 'pick-model', value: 'm' } },
      { method: 'session/prompt', jsonrpc: '2.0', params: { prompt: [{ type: 'text', text: 'go' }] } },
    ]);
    // One that does not take them works on as it is.
    const refused = take(session, { id: 3, error: { code: -1, message: 'no' } });
    expect(refused[0]).toMatchObject({ entry: { kind: 'note' } });
  });

  it.each([
    [{ sessionCapabilities: { resume: {} }, loadSession: true }, 'session/resume'],
    [{ loadSession: true }, 'session/load'],
  ])('goes on with a session by what the agent can: %j', (agentCapabilities, method) => {
    const [call] = written(take(open({ resume: 'old' }), { id: 1, result: { agentCapabilities } }));
    expect(call).toMatchObject({ method, params: { sessionId: 'old', cwd: '/w', mcpServers: [] } });
  });

  it('fails where the agent cannot go on with one', () => {
    const session = open({ resume: 'old' });
    expect(names(take(session, { id: 1, result: {} }))).toContain('finish');
    expect(session.report().failure?.message).toBe('The agent cannot go on with an earlier session');
  });

  it('says a further message when the turn has ended; then nobody knows the tokens', () => {
    const session = openPrompt();
    session.send('and this');
    const usage = { totalTokens: 3, inputTokens: 2, outputTokens: 1 };
    const steps = take(session, { id: 3, result: { stopReason: 'end_turn', usage } });
    expect(written(steps)[0]).toMatchObject({ params: { prompt: [{ text: 'and this' }] } });
    take(session, { id: 4, result: { stopReason: 'end_turn', usage } });
    expect(session.report()).toMatchObject({ finished: true, usage: { input_tokens: null } });
  });

  it('tells the cost of the session, and none where the agent knows no price', () => {
    const session = openPrompt();
    const cost = (amount: number, currency = 'USD') =>
      take(session, {
        method: 'session/update',
        params: { update: { sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount, currency } } },
      });
    cost(0);
    expect(session.report().usage.cost).toBeNull();
    cost(2);
    cost(900, 'credits');
    expect(session.report().usage.cost).toEqual({ usd: 2, of: 'session' });
  });

  it('[A12] counts by the books of an agent that keeps some, from where they stood before', () => {
    const books = { input: 100, output: 10, cached: 40, cost_usd: 0.5 };
    const session = open({ resume: 'old', readBooks: (id) => (id === 'old' ? { ...books } : undefined) });
    take(session, { id: 1, result: { agentCapabilities: { sessionCapabilities: { resume: {} } } } });
    take(session, { id: 2, result: {} });
    Object.assign(books, { input: 300, output: 30, cached: 120, cost_usd: 0.75 });
    const update = { sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed' };
    expect(names(take(session, { method: 'session/update', params: { update } }))).toContain('usage');
    expect(session.report().usage).toMatchObject({
      input_tokens: 200,
      output_tokens: 20,
      cached_tokens: 80,
      cost: { usd: 0.75, of: 'session' },
    });
  });

  it('keeps what was said and never asked for the next prompt', () => {
    const session = openPrompt();
    session.send('and this');
    expect(session.report().unheard).toEqual(['and this']);
    take(session, { id: 3, result: { stopReason: 'refusal' } });
    expect(session.report()).toMatchObject({ finished: true, unheard: ['and this'] });
  });

  it('lets an agent believe that a file was written which it writes itself', () => {
    const session = open({ writes_itself: true });
    const params = { path: '/w/a', content: 'x' };
    expect(take(session, { id: 7, method: 'fs/write_text_file', params })).toEqual([
      { do: 'write', line: JSON.stringify({ jsonrpc: '2.0', id: 7, result: {} }) },
    ]);
  });

  it.each(['max_tokens', 'max_turn_requests', 'refusal'])('has failed when it stops by %s', (stopReason) => {
    const session = openPrompt();
    take(session, { id: 3, result: { stopReason } });
    expect(session.report().failure).toEqual({
      outcome: 'failed',
      message: `The agent stopped early: ${stopReason}`,
    });
  });

  it('answers what is open when it is interrupted, as the protocol wants it', () => {
    const session = openPrompt();
    const params = { toolCall: { toolCallId: 'c' }, options: [] };
    take(session, { id: 77, method: 'session/request_permission', params });
    expect(written(session.interrupt())).toMatchObject([
      { id: 77, result: { outcome: { outcome: 'cancelled' } } },
      { method: 'session/cancel', params: { sessionId: 's' } },
    ]);
  });

  it('judges by every path that a request names, wherever it is', () => {
    const session = openPrompt();
    const toolCall = {
      toolCallId: 'c',
      kind: 'edit',
      title: 'Edit',
      locations: [{ path: '/w/a' }],
      content: [{ type: 'diff', path: '/w/b', newText: '' }],
      rawInput: { filePath: '/etc/passwd' },
    };
    const steps = take(session, {
      id: 7,
      method: 'session/request_permission',
      params: { toolCall, options: [] },
    });
    expect(steps.at(-1)).toMatchObject({ ask: { kind: 'edit', paths: ['/w/a', '/w/b', '/etc/passwd'] } });
    // No option to choose: the question is cancelled.
    expect(written(session.answer('7', 'allowed'))).toMatchObject([
      { id: 7, result: { outcome: { outcome: 'cancelled' } } },
    ]);
  });

  it('offers no files and no terminals, and answers no other request', () => {
    const session = openPrompt();
    for (const method of ['fs/delete', 'terminal/create', 'craft/drainMidTurnQueue'])
      expect(written(take(session, { id: 5, method, params: {} }))).toMatchObject([
        { id: 5, error: { code: -32_601 } },
      ]);
  });

  it('makes one entry of what comes in pieces, and bounds it', () => {
    const session = openPrompt();
    const chunk = (kind: string, text: string) =>
      take(session, {
        method: 'session/update',
        params: { update: { sessionUpdate: kind, content: { type: 'text', text } } },
      });
    expect(chunk('agent_message_chunk', 'Hel')).toEqual([]);
    expect(chunk('agent_message_chunk', 'lo')).toEqual([]);
    expect(chunk('agent_thought_chunk', 'hm')).toMatchObject([{ entry: { kind: 'message', text: 'Hello' } }]);
    expect(session.pause()).toMatchObject([{ entry: { kind: 'thought', text: 'hm' } }]);
    expect(session.pause()).toEqual([]);
    expect(names(chunk('agent_message_chunk', 'x'.repeat(70_000)))).toEqual(['tell']);
    expect(session.report().last_message?.length).toBeLessThanOrEqual(65_536);
  });

  it('tells results of tools in whatever form they come', () => {
    const session = openPrompt();
    const update = (fields: object) =>
      take(session, { method: 'session/update', params: { update: fields } });
    update({ sessionUpdate: 'tool_call', toolCallId: 'a', title: 'Run', kind: 'execute', status: 'pending' });
    const content = [{ type: 'content', content: { type: 'text', text: 'out' } }];
    expect(
      update({ sessionUpdate: 'tool_call_update', toolCallId: 'a', status: 'completed', content }),
    ).toMatchObject([
      { entry: { kind: 'tool_call', id: 'a', tool: 'Run' } },
      { entry: { kind: 'tool_result', id: 'a', is_error: false, text: 'out' } },
    ]);
    // One that was never announced, and is over already.
    expect(
      update({
        sessionUpdate: 'tool_call_update',
        toolCallId: 'b',
        status: 'failed',
        rawOutput: { output: 'no' },
      }),
    ).toMatchObject([{ entry: { kind: 'tool_call', id: 'b' } }, { entry: { is_error: true, text: 'no' } }]);
  });

  it('tells a call when what it is to do is known, under the name that it had first', () => {
    const session = openPrompt();
    const update = (fields: object) =>
      take(session, { method: 'session/update', params: { update: { toolCallId: 'a', ...fields } } });
    const announced = { sessionUpdate: 'tool_call', title: 'bash', kind: 'execute', rawInput: {} };
    expect(update({ ...announced, status: 'pending' })).toEqual([]);
    const rawInput = { command: 'ls' };
    const begun = { sessionUpdate: 'tool_call_update', title: 'ls', rawInput, status: 'in_progress' };
    const told = [{ entry: { kind: 'tool_call', id: 'a', tool: 'bash', input: rawInput } }];
    expect(update(begun)).toMatchObject(told);
    expect(update(begun)).toEqual([]);
  });

  it('tells a call before somebody is asked about it, announced or not, and one that was never begun', () => {
    const session = openPrompt();
    const ask = (id: number, toolCall: object) =>
      take(session, { id, method: 'session/request_permission', params: { toolCall, options: [] } });
    const update = { sessionUpdate: 'tool_call', toolCallId: 'a', title: 'write', status: 'pending' };
    take(session, { method: 'session/update', params: { update } });
    take(session, { method: 'session/update', params: { update: { ...update, toolCallId: 'c' } } });
    expect(ask(7, { toolCallId: 'a', title: '/w/x', kind: 'edit' })).toMatchObject([
      { entry: { kind: 'tool_call', id: 'a', tool: 'write' } },
      { ask: { tool: 'write', kind: 'edit' } },
    ]);
    expect(ask(8, { toolCallId: 'b', title: 'Writing to x' })).toMatchObject([
      { entry: { kind: 'tool_call', id: 'b' } },
      { do: 'ask' },
    ]);
    expect(ask(9, { toolCallId: 'b' })).toMatchObject([{ do: 'ask' }]);
    const [first] = take(session, { id: 3, result: { stopReason: 'end_turn' } });
    expect(first).toMatchObject({ entry: { kind: 'tool_call', id: 'c' } });
  });

  it('hears the history of a session out before it speaks, also where it comes behind the answer', () => {
    const session = open({ resume: 'old' });
    take(session, { id: 1, result: { agentCapabilities: { loadSession: true } } });
    expect(names(take(session, { id: 2, result: {} }))).toEqual(['session']);
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'long ago' } };
    take(session, { method: 'session/update', params: { update } });
    expect(written(session.pause())).toMatchObject([{ method: 'session/prompt' }]);
    expect(session.pause()).toEqual([]);
    expect(session.report().last_message).toBeUndefined();
  });

  it('says why a session could not be gone on with', () => {
    const session = open({ resume: 'old' });
    take(session, { id: 1, result: { agentCapabilities: { loadSession: true } } });
    const data = { details: 'it is gone' };
    take(session, { id: 2, error: { code: -32_603, message: 'Internal error', data } });
    expect(session.report().failure?.message).toBe(
      'The agent could not resume the session: Internal error (it is gone)',
    );
  });

  describe('counts tokens', () => {
    const end = (session: AcpSession, result: object) => {
      take(session, { id: 3, result: { stopReason: 'end_turn', ...result } });
      return session.report().usage;
    };
    const call = { sessionUpdate: 'tool_call', toolCallId: 'a', status: 'pending' };

    it('with the cache, where the sum says that it is apart', () => {
      const usage = { inputTokens: 60, outputTokens: 10, cachedReadTokens: 40 };
      expect(end(openPrompt(), { usage: { ...usage, totalTokens: 110 } }).input_tokens).toBe(100);
      expect(end(openPrompt(), { usage: { ...usage, totalTokens: 70 } }).input_tokens).toBe(60);
      expect(
        end(openPrompt(), { usage: { ...usage, thoughtTokens: 5, totalTokens: 115 } }).input_tokens,
      ).toBe(100);
    });

    it('of a turn with tools only where all its requests are counted', () => {
      const usage = { inputTokens: 60, outputTokens: 10, totalTokens: 70 };
      expect(end(openPrompt({ counts: 'last_request' }), { usage }).input_tokens).toBe(60);
      const session = openPrompt({ counts: 'last_request' });
      take(session, { method: 'session/update', params: { update: call } });
      expect(end(session, { usage }).input_tokens).toBeNull();
    });

    it('as Gemini CLI tells them, of every turn', () => {
      const _meta = { quota: { token_count: { input_tokens: 200, output_tokens: 20 } } };
      const session = openPrompt();
      session.send('more');
      end(session, { _meta });
      take(session, { id: 4, result: { stopReason: 'end_turn', _meta } });
      expect(session.report().usage).toMatchObject({ input_tokens: 400, output_tokens: 40 });
    });
  });
});

describe('every session', () => {
  const sessions: Readonly<Record<string, () => ProtocolSession>> = {
    claude: () => new ClaudeSession({ prompt: 'go', session_id: 's', clock, createId }),
    codex: () =>
      new CodexSession({
        prompt: 'go',
        cwd: '/w',
        resume: undefined,
        model: undefined,
        effort: undefined,
        approval_policy: 'on-request',
        sandbox: 'read-only',
        output_schema: {},
        version: '0',
        clock,
      }),
    acp: () =>
      new AcpSession({
        prompt: 'go',
        cwd: '/w',
        resume: 'x',
        model: 'm',
        mode: 'm',
        output_schema: {},
        version: '0',
        clock,
      }),
  };

  it.each(Object.keys(sessions))('survives whatever %s might say', (name) => {
    const values = [null, 1, 'x', [], [null, 7], {}, { id: null }, [{ text: 3 }], true];
    const heads = ['type', 'method', 'result', 'error'].flatMap((key) =>
      [
        'assistant',
        'user',
        'result',
        'system',
        'control_request',
        'control_response',
        'rate_limit_event',
        'turn/completed',
        'turn/started',
        'item/started',
        'item/completed',
        'error',
        'thread/tokenUsage/updated',
        'account/rateLimits/updated',
        'session/update',
        'session/request_permission',
        'item/fileChange/requestApproval',
        'serverRequest/resolved',
        ...values,
      ].map((value) => ({ [key]: value })),
    );
    const bodies = [
      'message',
      'request',
      'params',
      'usage',
      'permission_denials',
      'response',
      'id',
      'errors',
    ];
    for (const head of heads)
      for (const body of bodies)
        for (const value of values) {
          const session = sessions[name]?.();
          session?.begin();
          expect(() => take(session as ProtocolSession, { ...head, [body]: value, id: 1 })).not.toThrow();
        }
  });

  it.each(Object.keys(sessions))('leaves a giant line of %s alone that asks for nothing', (name) => {
    const session = sessions[name]?.();
    expect(session?.takeCut(`{"type":"assistant","message":"${'x'.repeat(5_000)}`)).toEqual([]);
    expect(session?.takeCut('')).toEqual([]);
  });
});
