import { toText, type Dialect, type Json, type Wire, type Wish } from './executor-wire.ts';

export class CodexDialect implements Dialect {
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
    return { prompt: await this.nextTurn(), resumed };
  }

  async nextTurn() {
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

  fail(why: 'limit' | 'overload' | 'network' | 'auth' | 'crash') {
    const word = {
      limit: 'usageLimitExceeded',
      overload: 'serverOverloaded',
      network: 'other',
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
    const said = why === 'network' ? 'stream disconnected before completion: error sending request' : why;
    const error = { message: `The model said ${said}`, codexErrorInfo: word };
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

  spend() {
    this.#used += 100;
    this.#tellUsage(100);
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
