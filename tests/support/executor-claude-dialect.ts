import type { Dialect, Json, Wire, Wish } from './executor-wire.ts';

export class ClaudeDialect implements Dialect {
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
