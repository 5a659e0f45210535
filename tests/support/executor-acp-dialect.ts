import { join } from 'node:path';
import { toText, type Dialect, type Json, type Wire, type Wish } from './executor-wire.ts';

export class AcpDialect implements Dialect {
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
    return { prompt: await this.nextTurn(), resumed };
  }

  /** The protocol has no way to hear one. */
  nextMessage() {
    return this.nextTurn();
  }

  async nextTurn() {
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

  async askClient(path: string, content: string) {
    const full = join(process.cwd(), path);
    const written = await this.#call('fs/write_text_file', { path: full, content });
    if (written['error'] !== undefined) return (written['error'] as { message: string }).message;
    const read = await this.#call('fs/read_text_file', { path: full, line: 1, limit: 1 });
    return (read['result'] as { content: string }).content;
  }

  async #call(method: string, params: Json): Promise<Json> {
    this.#asked += 1;
    const id = 2_000 + this.#asked;
    this.#wire.write({ jsonrpc: '2.0', id, method, params: { sessionId: 's', ...params } });
    return this.#wire.next((message) => message['id'] === id && message['method'] === undefined);
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
      inputTokens: 100,
      outputTokens: 20,
      cachedReadTokens: 40,
    };
    this.#end({ stopReason: 'end_turn', usage });
  }

  fail(why: 'limit' | 'overload' | 'network' | 'auth' | 'crash') {
    const error = {
      limit: { code: 429, message: 'Quota exceeded, retry in 90s' },
      overload: { code: -32_603, message: 'Internal error', data: { status: 503 } },
      network: {
        code: -32_603,
        message: 'Internal error',
        data: { details: 'fetch failed: connect ECONNREFUSED 127.0.0.1:9' },
      },
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
