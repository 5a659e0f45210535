import { createInterface } from 'node:readline';

/** The agent's side of the protocols that Forge speaks, as small as a scenario needs it. */
export interface Dialect {
  /** Until the first prompt is there. */
  open(): Promise<{ readonly prompt: string; readonly resumed: string | undefined }>;
  say(text: string): void;
  /** Asks whether it may write a file, or run a command. */
  ask(what: Wish): Promise<boolean>;
  /** Asks and takes it back. */
  askInVain(what: Wish): void;
  report(wish: Wish, worked: boolean): void;
  nextMessage(): Promise<string>;
  interrupted(): Promise<void>;
  finish(end?: { readonly answer?: unknown }): void;
  fail(why: 'limit' | 'overload' | 'auth' | 'crash'): void;
}

export type Wish = { readonly write: string; readonly padding?: number } | { readonly run: string };

type Json = Record<string, unknown>;

export function createDialect(name: string, argv: readonly string[]): Dialect {
  const wire = new Wire();
  if (name === 'claude') return new ClaudeDialect(wire, argv);
  return name === 'codex' ? new CodexDialect(wire) : new AcpDialect(wire);
}

/** Lines in, lines out. Whoever waits gets the next line that fits; the others wait for somebody else. */
class Wire {
  readonly #seen: Json[] = [];
  readonly #waiting: { fits: (message: Json) => boolean; take: (message: Json) => void }[] = [];

  constructor() {
    createInterface({ input: process.stdin }).on('line', (line) => this.#take(JSON.parse(line) as Json));
  }

  write(message: Json): void {
    process.stdout.write(`${JSON.stringify(message)}\n`);
  }

  next(fits: (message: Json) => boolean): Promise<Json> {
    const at = this.#seen.findIndex(fits);
    const found = at < 0 ? undefined : this.#seen.splice(at, 1)[0];
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((take) => this.#waiting.push({ fits, take }));
  }

  #take(message: Json): void {
    const at = this.#waiting.findIndex(({ fits }) => fits(message));
    const [waiting] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (waiting === undefined) this.#seen.push(message);
    else waiting.take(message);
  }
}

const TOKENS = { input: 100, output: 20, cached: 40 };

class ClaudeDialect implements Dialect {
  readonly #wire: Wire;
  readonly #argv: readonly string[];
  #asked = 0;
  #denied: Json[] = [];
  #turns = 0;

  constructor(wire: Wire, argv: readonly string[]) {
    this.#wire = wire;
    this.#argv = argv;
  }

  async open() {
    const hello = await this.#wire.next((message) => message['type'] === 'control_request');
    this.#wire.write({
      type: 'control_response',
      response: { subtype: 'success', request_id: hello['request_id'] },
    });
    const prompt = await this.nextMessage();
    const resumed = this.#flag('--resume');
    const session_id = resumed ?? this.#flag('--session-id');
    this.#wire.write({ type: 'system', subtype: 'init', session_id });
    return { prompt, resumed };
  }

  async nextMessage() {
    const message = await this.#wire.next(({ type }) => type === 'user');
    return (message['message'] as { content: string }).content;
  }

  say(text: string) {
    this.#assistant([
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text },
    ]);
  }

  async ask(wish: Wish) {
    const request_id = this.#request(wish);
    const answer = await this.#wire.next(
      ({ type, response }) => type === 'control_response' && (response as Json)['request_id'] === request_id,
    );
    const { behavior, updatedInput } = (answer['response'] as { response: Json }).response;
    if (behavior === 'allow' && JSON.stringify(updatedInput) !== JSON.stringify(toInput(wish).input))
      throw new Error('the input came back changed');
    if (behavior !== 'allow') this.#denied.push({ tool_use_id: `tool-${this.#asked}` });
    return behavior === 'allow';
  }

  askInVain(wish: Wish) {
    this.#wire.write({ type: 'control_cancel_request', request_id: this.#request(wish) });
  }

  report(_wish: Wish, worked: boolean) {
    const content = [
      { type: 'tool_result', tool_use_id: `tool-${this.#asked}`, is_error: !worked, content: 'so' },
    ];
    this.#wire.write({ type: 'user', message: { role: 'user', content } });
  }

  async interrupted() {
    await this.#wire.next(({ request }) => (request as Json | undefined)?.['subtype'] === 'interrupt');
    this.#result({ is_error: true, subtype: 'error_during_execution' });
  }

  finish({ answer }: { answer?: unknown } = {}) {
    this.#result({ is_error: false, subtype: 'success', result: 'all done', structured_output: answer });
  }

  fail(why: 'limit' | 'overload' | 'auth' | 'crash') {
    const [status, type] = {
      limit: [429, 'rate_limit_error'],
      overload: [529, 'overloaded_error'],
      auth: [401, 'authentication_error'],
      crash: [undefined, undefined],
    }[why];
    if (why === 'limit')
      this.#wire.write({
        type: 'rate_limit_event',
        rate_limit_info: { status: 'rejected', resetsAt: 1_767_229_200 },
      });
    const error = { api_error_status: status, api_error_type: type };
    if (why !== 'crash')
      this.#wire.write({
        type: 'assistant',
        is_api_error_message: true,
        error: why,
        ...error,
        message: { content: [{ type: 'text', text: `API Error: ${why}` }] },
      });
    // As the real one does it: success by name, an error by flag.
    this.#result({ is_error: true, subtype: 'success', result: `API Error: ${why}`, ...error });
  }

  #request(wish: Wish): string {
    this.#asked += 1;
    const { tool: tool_name, input } = toInput(wish);
    const tool_use_id = `tool-${this.#asked}`;
    if (!('padding' in wish))
      this.#assistant([{ type: 'tool_use', id: tool_use_id, name: tool_name, input }]);
    const request_id = `ask-${this.#asked}`;
    const request = { subtype: 'can_use_tool', tool_name, input, tool_use_id };
    this.#wire.write({ type: 'control_request', request_id, request });
    return request_id;
  }

  #assistant(content: readonly Json[]) {
    this.#wire.write({ type: 'assistant', message: { content }, parent_tool_use_id: null });
  }

  #result(fields: Json) {
    this.#turns += 1;
    this.#wire.write({
      type: 'result',
      // A turn for the tokens, the whole process for the money.
      usage: {
        input_tokens: 50,
        cache_creation_input_tokens: 10,
        cache_read_input_tokens: 40,
        output_tokens: 20,
      },
      total_cost_usd: this.#turns * 0.5,
      permission_denials: this.#denied,
      ...fields,
    });
  }

  #flag(name: string): string | undefined {
    const at = this.#argv.indexOf(name);
    return at < 0 ? undefined : this.#argv[at + 1];
  }
}

function toInput(wish: Wish): { tool: string; input: Json } {
  if ('run' in wish) return { tool: 'Bash', input: { command: wish.run } };
  const content = 'x'.repeat(wish.padding ?? 5);
  return { tool: 'Write', input: { file_path: wish.write, content } };
}

class CodexDialect implements Dialect {
  readonly #wire: Wire;
  #asked = 0;
  #turns = 0;
  /** Of the thread, all earlier runs included. */
  #used = 0;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  async open() {
    await this.#answer('initialize', { userAgent: 'test/1.0.0' });
    await this.#wire.next(({ method }) => method === 'initialized');
    const thread = await this.#wire.next(({ method }) => String(method).startsWith('thread/'));
    const params = thread['params'] as Json;
    const resumed = params['threadId'] as string | undefined;
    this.#wire.write({ id: thread['id'], result: { thread: { id: resumed ?? 'thread-of-codex' } } });
    if (resumed !== undefined) {
      this.#used = 1_000;
      this.#tellUsage();
    }
    return { prompt: await this.#startTurn(), resumed };
  }

  async #startTurn(): Promise<string> {
    const turn = await this.#wire.next(({ method }) => method === 'turn/start');
    this.#turns += 1;
    this.#wire.write({ id: turn['id'], result: { turn: { id: `turn-${this.#turns}` } } });
    this.#notify('turn/started', { turn: { id: `turn-${this.#turns}` } });
    return toText((turn['params'] as Json)['input']);
  }

  async nextMessage() {
    const steer = await this.#wire.next(({ method }) => method === 'turn/steer');
    this.#wire.write({ id: steer['id'], result: { turnId: `turn-${this.#turns}` } });
    return toText((steer['params'] as Json)['input']);
  }

  say(text: string) {
    this.#notify('item/completed', { item: { type: 'reasoning', id: 'r', summary: ['hm'], content: [] } });
    this.#notify('item/completed', { item: { type: 'agentMessage', id: 'm', text } });
  }

  async ask(wish: Wish) {
    const id = this.#request(wish);
    const answer = await this.#wire.next(
      (message) => message['id'] === id && message['result'] !== undefined,
    );
    return (answer['result'] as Json)['decision'] === 'accept';
  }

  askInVain(wish: Wish) {
    this.#notify('serverRequest/resolved', { requestId: this.#request(wish) });
  }

  report(wish: Wish, worked: boolean) {
    const status = worked ? 'completed' : 'declined';
    this.#notify('item/completed', { item: { ...this.#item(wish), status } });
  }

  async interrupted() {
    await this.#answer('turn/interrupt', {});
    this.#endTurn({ status: 'interrupted' });
  }

  finish({ answer }: { answer?: unknown } = {}) {
    if (answer !== undefined) this.say(JSON.stringify(answer));
    this.#endTurn({ status: 'completed' });
  }

  fail(why: 'limit' | 'overload' | 'auth' | 'crash') {
    const word = {
      limit: 'usageLimitExceeded',
      overload: 'serverOverloaded',
      auth: 'unauthorized',
      crash: 'other',
    }[why];
    if (why === 'limit')
      this.#notify('account/rateLimits/updated', {
        rateLimits: {
          primary: { usedPercent: 100, resetsAt: 1_767_229_200 },
          secondary: { usedPercent: 3, resetsAt: 1 },
        },
      });
    const error = { message: `The model said ${why}`, codexErrorInfo: word };
    this.#notify('error', { error, willRetry: false });
    this.#endTurn({ status: 'failed', error });
  }

  #endTurn(turn: Json) {
    this.#used += 60;
    this.#tellUsage(60);
    this.#used += 60;
    this.#tellUsage(60);
    // Told again when limits change, as the real one does.
    this.#tellUsage(60);
    this.#notify('turn/completed', { turn: { id: `turn-${this.#turns}`, ...turn } });
  }

  #tellUsage(last = this.#used) {
    const total = {
      inputTokens: this.#used,
      cachedInputTokens: this.#used / 2,
      outputTokens: this.#used / 10,
    };
    const recent = { inputTokens: last, cachedInputTokens: last / 2, outputTokens: last / 10 };
    const turnId = `turn-${this.#turns}`;
    this.#notify('thread/tokenUsage/updated', { turnId, tokenUsage: { total, last: recent } });
  }

  #request(wish: Wish): number {
    this.#asked += 1;
    const item = this.#item(wish);
    this.#notify('item/started', { item: { ...item, status: 'inProgress' } });
    const id = 1_000 + this.#asked;
    const isCommand = 'run' in wish;
    const params = {
      itemId: item.id,
      ...(isCommand ? { command: wish.run } : {}),
      ...('padding' in wish ? { reason: 'x'.repeat(wish.padding ?? 0) } : {}),
    };
    const method = isCommand ? 'item/commandExecution/requestApproval' : 'item/fileChange/requestApproval';
    this.#wire.write({ method, id, params });
    return id;
  }

  #item(wish: Wish) {
    const id = `item-${this.#asked}`;
    if ('run' in wish)
      return { type: 'commandExecution', id, command: wish.run, aggregatedOutput: 'out', exitCode: 0 };
    return { type: 'fileChange', id, changes: [{ path: wish.write, kind: 'add', diff: '+x' }] };
  }

  async #answer(method: string, result: Json) {
    const request = await this.#wire.next((message) => message['method'] === method);
    this.#wire.write({ id: request['id'], result });
  }

  #notify(method: string, params: Json) {
    this.#wire.write({ method, params });
  }
}

class AcpDialect implements Dialect {
  readonly #wire: Wire;
  #asked = 0;
  #prompt: unknown;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  async open() {
    const hello = await this.#wire.next(({ method }) => method === 'initialize');
    this.#respond(hello, { protocolVersion: 1, agentCapabilities: { loadSession: true } });
    const session = await this.#wire.next(
      ({ method }) => method === 'session/new' || method === 'session/load',
    );
    const resumed = (session['params'] as Json)['sessionId'] as string | undefined;
    // Loading says everything of the earlier session once more.
    if (resumed !== undefined) this.say('from long ago');
    const modes = { currentModeId: 'auto', availableModes: [{ id: 'auto' }, { id: 'default' }] };
    this.#respond(session, { ...(resumed === undefined && { sessionId: 'session-of-acp' }), modes });
    return { prompt: await this.nextMessage(), resumed };
  }

  async nextMessage() {
    const prompt = await this.#wire.next(({ method }) => method === 'session/prompt');
    this.#prompt = prompt['id'];
    return toText((prompt['params'] as Json)['prompt']);
  }

  say(text: string) {
    this.#update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } });
    for (const piece of text.match(/[^]{1,4}/g) ?? [])
      this.#update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: piece } });
  }

  async ask(wish: Wish) {
    const id = this.#request(wish);
    const answer = await this.#wire.next(
      (message) => message['id'] === id && message['result'] !== undefined,
    );
    const { outcome } = answer['result'] as { outcome: Json };
    return outcome['outcome'] === 'selected' && outcome['optionId'] === 'once';
  }

  askInVain(wish: Wish) {
    this.#request(wish);
  }

  report(_wish: Wish, worked: boolean) {
    const status = worked ? 'completed' : 'failed';
    this.#update({ sessionUpdate: 'tool_call_update', toolCallId: `call-${this.#asked}`, status });
  }

  async interrupted() {
    await this.#wire.next(({ method }) => method === 'session/cancel');
    this.#end({ stopReason: 'cancelled' });
  }

  finish({ answer }: { answer?: unknown } = {}) {
    if (answer !== undefined) this.say(`Here it is:\n\`\`\`json\n${JSON.stringify(answer)}\n\`\`\`\n`);
    this.#update({
      sessionUpdate: 'usage_update',
      used: 9,
      size: 99,
      cost: { amount: 0.5, currency: 'USD' },
    });
    const usage = {
      totalTokens: 120,
      inputTokens: TOKENS.input,
      outputTokens: TOKENS.output,
      cachedReadTokens: TOKENS.cached,
    };
    this.#end({ stopReason: 'end_turn', usage });
  }

  fail(why: 'limit' | 'overload' | 'auth' | 'crash') {
    const error = {
      limit: { code: 429, message: 'Quota exceeded, retry in 90s' },
      overload: { code: -32_603, message: 'Internal error', data: { status: 503 } },
      auth: { code: -32_000, message: 'Authentication required' },
      crash: { code: -32_603, message: 'Internal error' },
    }[why];
    this.#wire.write({ jsonrpc: '2.0', id: this.#prompt, error });
  }

  #end(result: Json) {
    this.#wire.write({ jsonrpc: '2.0', id: this.#prompt, result });
  }

  #request(wish: Wish): number {
    this.#asked += 1;
    const toolCallId = `call-${this.#asked}`;
    const call =
      'run' in wish
        ? { kind: 'execute', title: wish.run, rawInput: { command: wish.run } }
        : { kind: 'edit', title: 'write', locations: [{ path: wish.write }] };
    this.#update({ sessionUpdate: 'tool_call', toolCallId, ...call, status: 'pending' });
    const id = 2_000 + this.#asked;
    const options = [
      { optionId: 'ever', name: 'Always', kind: 'allow_always' },
      { optionId: 'once', name: 'Once', kind: 'allow_once' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ];
    // By id alone, as the protocol allows: the rest was in the update.
    const padding = 'padding' in wish ? { content: 'x'.repeat(wish.padding ?? 0) } : {};
    const params = { toolCall: { toolCallId, ...padding }, options };
    this.#wire.write({ jsonrpc: '2.0', id, method: 'session/request_permission', params });
    return id;
  }

  #update(update: Json) {
    this.#wire.write({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's', update } });
  }

  #respond(request: Json, result: Json) {
    this.#wire.write({ jsonrpc: '2.0', id: request['id'], result });
  }
}

function toText(input: unknown): string {
  return (input as { text: string }[]).map(({ text }) => text).join('');
}
