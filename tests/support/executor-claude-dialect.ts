import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dialect, Json, Wire, Wish } from './executor-wire.ts';

/** What one request reads; what it writes is not known yet. */
const READ = {
  input_tokens: 50,
  cache_creation_input_tokens: 10,
  cache_read_input_tokens: 40,
  output_tokens: 1,
};

export class ClaudeDialect implements Dialect {
  readonly #wire: Wire;
  readonly #argv: readonly string[];
  #asked = 0;
  #denied: Json[] = [];
  #turns = 0;
  #messages = 0;
  /** Of the messages, those of turns that have ended. */
  #counted = 0;
  /** A message that has come and is not begun with. */
  #queued: Json | undefined;
  /** Names of the messages that the turn at work is about. */
  #begun: string[] = [];
  readonly #closed = new Promise<undefined>((close) => {
    process.stdin.once('end', () => close(undefined));
  });

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
    if (this.#queued === undefined) await this.queue();
    const message = this.#queued ?? {};
    this.#queued = undefined;
    this.#begun.push(message['uuid'] as string);
    this.#lifecycle(message, 'started');
    return (message['message'] as { content: string }).content;
  }

  async queue() {
    this.#queued = await this.#wire.next(({ type }) => type === 'user');
    this.#lifecycle(this.#queued, 'queued');
  }

  nextTurn() {
    return this.nextMessage();
  }

  say(text: string) {
    this.#assistant([
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text },
    ]);
  }

  async ask(wish: Wish) {
    const request_id = this.#request(wish);
    const answered = this.#wire.next(
      ({ type, response }) => type === 'control_response' && (response as Json)['request_id'] === request_id,
    );
    const answer = await Promise.race([answered, this.#closed]);
    // "Tool permission request failed: Stream closed"
    if (answer === undefined) {
      this.#denied.push({ tool_use_id: `tool-${this.#asked}` });
      return false;
    }
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

  fail(why: 'limit' | 'overload' | 'network' | 'auth' | 'crash') {
    const [status, type] = {
      limit: [429, 'rate_limit_error'],
      overload: [529, 'overloaded_error'],
      network: [undefined, undefined],
      auth: [401, 'authentication_error'],
      crash: [undefined, undefined],
    }[why];
    const said = `API Error: ${why === 'network' ? 'Connection error.' : why}`;
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
        message: { content: [{ type: 'text', text: said }] },
      });
    // As the real one does it: success by name, an error by flag.
    this.#result({ is_error: true, subtype: 'success', result: said, ...error });
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
    this.#messages += 1;
    const message = { id: `msg-${this.#messages}`, model: 'claude-opus-5-5', content, usage: READ };
    this.#wire.write({ type: 'assistant', message, parent_tool_use_id: null });
  }

  #lifecycle({ uuid: command_uuid }: Json, state: string) {
    if (command_uuid !== undefined) this.#wire.write({ type: 'command_lifecycle', command_uuid, state });
  }

  /** What the session has cost, its earlier processes included; kept where the real one keeps its transcript. */
  #spend(): number {
    const folder = process.env['CLAUDE_DIALECT_HOME'];
    if (folder === undefined) return this.#turns * 0.5;
    const session = this.#flag('--resume') ?? this.#flag('--session-id') ?? '';
    const file = join(folder, `claude-${session}`);
    const before = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
    writeFileSync(file, String(before + 0.5));
    return before + 0.5;
  }

  #result(fields: Json) {
    this.#turns += 1;
    const requests = Math.max(1, this.#messages - this.#counted);
    this.#counted = this.#messages;
    const begun = this.#begun;
    this.#begun = [];
    this.#wire.write({
      type: 'result',
      user_message_uuids: begun,
      // Also where a message has come that is not begun with.
      queued_turn_count: 0,
      // A turn for the tokens, the whole session for the money.
      usage: {
        input_tokens: requests * READ.input_tokens,
        cache_creation_input_tokens: requests * READ.cache_creation_input_tokens,
        cache_read_input_tokens: requests * READ.cache_read_input_tokens,
        output_tokens: 20,
      },
      total_cost_usd: this.#spend(),
      permission_denials: this.#denied,
      ...fields,
    });
    for (const uuid of begun) this.#lifecycle({ uuid }, 'completed');
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
