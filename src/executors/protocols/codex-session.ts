import type { Clock } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import { CodexItems } from './codex-items.ts';
import { CodexUsage } from './codex-usage.ts';
import { classifyFailure } from './classify-failure.ts';
import { fieldsOf, numberOf, textOf, type Fields } from './fields.ts';
import { findCutRequest, parseRpc, RpcCalls, type RpcError, type RpcId } from './json-rpc.ts';
import { SessionRecord } from './session-record.ts';
import type { Decision, ProtocolSession, SessionReport, SessionStep } from './session.ts';
import { findJsonAnswer } from './structured-answer.ts';

export interface CodexSessionOptions {
  readonly prompt: string;
  readonly cwd: string;
  /** Undefined begins a new thread. */
  readonly resume: string | undefined;
  readonly model: string | undefined;
  readonly effort: string | undefined;
  readonly approval_policy: 'untrusted' | 'on-request';
  readonly sandbox: 'read-only' | 'workspace-write' | 'danger-full-access';
  readonly output_schema: object | undefined;
  readonly version: string;
  readonly clock: Clock;
}

type Purpose = 'initialize' | 'thread' | 'turn' | 'steer' | 'interrupt';

const COMMAND = 'item/commandExecution/requestApproval';
const FILES = 'item/fileChange/requestApproval';

/** What Codex tells only while its provider answers. */
const WORKS = /^(?:item\/|turn\/|thread\/tokenUsage\/)/;

/** `codex app-server`: JSON-RPC on standard input and output. */
export class CodexSession implements ProtocolSession {
  readonly tells_reasons = false;
  readonly #options: CodexSessionOptions;
  readonly #record = new SessionRecord();
  readonly #calls = new RpcCalls<Purpose>({});
  readonly #items = new CodexItems();
  readonly #usage: CodexUsage;
  readonly #asked = new Map<string, RpcId>();
  /** What no turn could take yet: the prompt, and messages that came meanwhile. */
  readonly #queue: string[] = [];
  #prompted = false;
  /** Sent into a turn at work and not confirmed; where that is refused they get a turn of their own. */
  readonly #steered: string[] = [];
  #thread = '';
  #turn: string | undefined;
  #interrupted = false;
  #resets_at: number | undefined;
  /** Since when it says nothing but that it connects again. */
  #lost_since: number | undefined;

  constructor(options: CodexSessionOptions) {
    this.#options = options;
    this.#usage = new CodexUsage({ resumed: options.resume !== undefined });
    this.#queue.push(options.prompt);
  }

  begin(): readonly SessionStep[] {
    const clientInfo = { name: 'forge', title: 'Forge', version: this.#options.version };
    return [this.#calls.call('initialize', 'initialize', { clientInfo, capabilities: null })];
  }

  take(line: string): readonly SessionStep[] {
    const message = parseRpc(line);
    if (message === undefined)
      return [{ do: 'tell', entry: { kind: 'output', stream: 'stdout', text: line } }];
    switch (message.kind) {
      case 'request':
        return this.#takeRequest(message.id, message.method, message.params);
      case 'notification':
        return this.#takeNotification(message.method, message.params);
      case 'result':
        return this.#takeResult(this.#calls.settle(message.id), message.result);
      case 'error':
        return this.#takeError(this.#calls.settle(message.id), message.error);
    }
  }

  takeCut(head: string): readonly SessionStep[] {
    const request = findCutRequest(head);
    if (request === undefined) return [];
    return [this.#refuse(request.id, request.method)];
  }

  answer(ask_id: string, decision: Decision): readonly SessionStep[] {
    const id = this.#asked.get(ask_id);
    if (id === undefined) return [];
    this.#asked.delete(ask_id);
    this.#record.noteDecision(decision);
    return [this.#calls.respond(id, { decision: decision === 'allowed' ? 'accept' : 'decline' })];
  }

  send(text: string): readonly SessionStep[] {
    if (this.#turn === undefined) {
      this.#queue.push(text);
      return [];
    }
    this.#steered.push(text);
    const params = { threadId: this.#thread, expectedTurnId: this.#turn, input: toInput(text) };
    return [this.#calls.call('steer', 'turn/steer', params)];
  }

  interrupt(): readonly SessionStep[] {
    this.#interrupted = true;
    if (this.#turn === undefined) return [{ do: 'finish' }];
    const params = { threadId: this.#thread, turnId: this.#turn };
    return [this.#calls.call('interrupt', 'turn/interrupt', params)];
  }

  report(): SessionReport {
    const waiting = this.#prompted ? this.#queue : this.#queue.slice(1);
    return this.#record.report(this.#usage.total(), [...this.#steered, ...waiting]);
  }

  #takeResult(purpose: Purpose | undefined, result: Fields): readonly SessionStep[] {
    switch (purpose) {
      case 'initialize':
        return [this.#calls.notify('initialized'), this.#openThread()];
      case 'thread':
        return this.#noteThread(fieldsOf(result['thread']));
      case 'turn':
        this.#noteTurn(textOf(fieldsOf(result['turn'])['id']));
        return [];
      case 'steer':
        this.#steered.shift();
        return this.#goOn();
      case 'interrupt':
      case undefined:
        return [];
    }
  }

  #takeError(purpose: Purpose | undefined, error: RpcError): readonly SessionStep[] {
    if (purpose === 'steer') return this.#requeue();
    if (purpose === 'interrupt') return [{ do: 'finish' }];
    if (purpose === undefined) return [];
    const what = purpose === 'thread' && this.#options.resume !== undefined ? 'resume the thread' : purpose;
    return this.#fail(`Codex could not ${what}: ${error.message}`, error);
  }

  /** The turn ended in between, or is of a kind that takes none. */
  #requeue(): readonly SessionStep[] {
    const text = this.#steered.shift();
    if (text !== undefined) this.#queue.push(text);
    return this.#goOn();
  }

  #fail(message: string, error: RpcError): readonly SessionStep[] {
    const failure = classifyFailure({
      message: error.message,
      type: textOf(error.data['codexErrorInfo']),
      now: this.#options.clock.now(),
    });
    this.#record.failure = { ...failure, message };
    this.#record.finished = true;
    const code = String(error.code ?? 'error');
    return [{ do: 'tell', entry: { kind: 'error', code, text: message } }, { do: 'finish' }];
  }

  #openThread(): SessionStep {
    const { cwd, resume, model, approval_policy, sandbox } = this.#options;
    const settings = {
      cwd,
      approvalPolicy: approval_policy,
      sandbox,
      // A folder that everybody writes to is not part of the checkout.
      config: { 'sandbox_workspace_write.exclude_slash_tmp': true },
      ...(model !== undefined && { model }),
    };
    if (resume === undefined) return this.#calls.call('thread', 'thread/start', settings);
    return this.#calls.call('thread', 'thread/resume', { threadId: resume, excludeTurns: true, ...settings });
  }

  #noteThread(thread: Fields): readonly SessionStep[] {
    this.#thread = textOf(thread['id']) ?? this.#options.resume ?? '';
    this.#usage.noteModel(textOf(thread['model']) ?? this.#options.model);
    return [{ do: 'session', id: this.#thread }, ...this.#nextTurn()];
  }

  #nextTurn(): readonly SessionStep[] {
    if (this.#interrupted) return [];
    const text = this.#queue.shift();
    if (text === undefined) return [];
    this.#prompted = true;
    const { effort, output_schema } = this.#options;
    const params = {
      threadId: this.#thread,
      input: toInput(text),
      ...(effort !== undefined && { effort }),
      ...(output_schema !== undefined && { outputSchema: output_schema }),
    };
    return [this.#calls.call('turn', 'turn/start', params)];
  }

  #noteTurn(id: string | undefined): void {
    if (id === undefined || this.#record.finished) return;
    this.#turn = id;
    this.#usage.beginTurn();
  }

  #takeNotification(method: string, params: Fields): readonly SessionStep[] {
    if (WORKS.test(method)) this.#lost_since = undefined;
    switch (method) {
      case 'turn/started':
        this.#noteTurn(textOf(fieldsOf(params['turn'])['id']));
        return [];
      case 'item/started':
        return this.#items.start(fieldsOf(params['item']));
      case 'item/completed':
        return this.#items.complete(fieldsOf(params['item']), this.#record);
      case 'thread/tokenUsage/updated':
        return this.#noteUsage(params);
      case 'account/rateLimits/updated':
        this.#noteRateLimits(fieldsOf(params['rateLimits']));
        return [];
      case 'error':
        return this.#takeTurnError(fieldsOf(params['error']), params['willRetry'] === true);
      case 'turn/completed':
        return this.#takeTurnEnd(fieldsOf(params['turn']));
      case 'serverRequest/resolved':
        return this.#withdraw(params['requestId']);
      default:
        return [];
    }
  }

  #noteUsage(params: Fields): readonly SessionStep[] {
    const thread = textOf(params['threadId']) ?? this.#thread;
    const own = this.#thread === '' || thread === this.#thread;
    const isNew = this.#usage.note(fieldsOf(params['tokenUsage']), { thread, own });
    return isNew ? [{ do: 'usage', when: 'working' }] : [];
  }

  #takeTurnError(error: Fields, will_retry: boolean): readonly SessionStep[] {
    const text = textOf(error['message']) ?? 'no reason given';
    if (will_retry) return this.#takeRetry(text);
    this.#noteError(error);
    return [{ do: 'tell', entry: { kind: 'error', code: toErrorWord(error) ?? 'error', text } }];
  }

  /** Codex tries without end where there is no network; then its agent is better suspended than at work. */
  #takeRetry(text: string): readonly SessionStep[] {
    const note: SessionStep = { do: 'tell', entry: { kind: 'note', text: `Codex tries again: ${text}` } };
    const now = this.#options.clock.now();
    this.#lost_since ??= now;
    if (now - this.#lost_since < LIMITS.reconnect_ms || this.#record.finished) return [note];
    const minutes = Math.floor((now - this.#lost_since) / 60_000);
    const message = `Codex could not reach its provider for ${minutes} minutes: ${text}`;
    this.#record.failure = { outcome: 'unavailable', message };
    this.#record.finished = true;
    return [
      note,
      { do: 'tell', entry: { kind: 'error', code: 'unavailable', text: message } },
      { do: 'finish' },
    ];
  }

  #noteError(error: Fields): void {
    const type = toErrorWord(error);
    const message = textOf(error['message']) ?? 'Codex ended its turn with an error';
    if (type === 'tooManyDenials') this.#record.failure = { outcome: 'denied', message };
    else
      this.#record.failure = classifyFailure({
        message,
        type,
        status: findStatus(error['codexErrorInfo']),
        resets_at: this.#resets_at,
        now: this.#options.clock.now(),
      });
  }

  #takeTurnEnd(turn: Fields): readonly SessionStep[] {
    this.#turn = undefined;
    const told: SessionStep = { do: 'usage', when: 'turn_end' };
    if (turn['status'] === 'completed') {
      this.#record.failure = undefined;
      return [told, ...this.#goOn()];
    }
    if (turn['status'] === 'interrupted')
      this.#record.failure = { outcome: 'stopped', message: 'Codex was interrupted' };
    else if (this.#record.failure === undefined) this.#noteError(fieldsOf(turn['error']));
    return [told, ...this.#finish()];
  }

  /** Between two turns: the next message, or the end. One that is on its way to a turn is waited for. */
  #goOn(): readonly SessionStep[] {
    if (this.#turn !== undefined || this.#steered.length > 0 || this.#record.finished) return [];
    return this.#queue.length > 0 && !this.#interrupted ? this.#nextTurn() : this.#finish();
  }

  #finish(): readonly SessionStep[] {
    this.#record.finished = true;
    if (this.#options.output_schema !== undefined)
      this.#record.structured = findJsonAnswer(this.#record.last_message);
    return [{ do: 'finish' }];
  }

  #noteRateLimits(limits: Fields): void {
    const full = [limits['primary'], limits['secondary']].map(fieldsOf).flatMap((window) => {
      const resets = numberOf(window['resetsAt']);
      return (numberOf(window['usedPercent']) ?? 0) >= 100 && resets !== undefined ? [resets * 1_000] : [];
    });
    // Where both are used up, the later one is the one to wait for.
    if (full.length > 0) this.#resets_at = Math.max(...full);
  }

  #takeRequest(id: RpcId, method: string, params: Fields): readonly SessionStep[] {
    if (method !== COMMAND && method !== FILES) return [this.#refuse(id, method)];
    const ask_id = String(id);
    this.#asked.set(ask_id, id);
    return [{ do: 'ask', ask: this.#items.toAsk(ask_id, method === COMMAND ? 'command' : 'files', params) }];
  }

  /** In the words of each request, so that the agent goes on without. */
  #refuse(id: RpcId, method: string): SessionStep {
    switch (method) {
      case COMMAND:
      case FILES:
        this.#record.noteDecision('denied');
        return this.#calls.respond(id, { decision: 'decline' });
      case 'item/permissions/requestApproval':
        this.#record.noteDecision('denied');
        return this.#calls.respond(id, { permissions: {}, scope: 'turn' });
      case 'item/tool/requestUserInput':
        return this.#calls.respond(id, { answers: {} });
      case 'mcpServer/elicitation/request':
        return this.#calls.respond(id, { action: 'decline', content: null });
      default:
        return this.#calls.refuse(id, method);
    }
  }

  #withdraw(request_id: unknown): readonly SessionStep[] {
    const ask_id = String(request_id);
    return this.#asked.delete(ask_id) ? [{ do: 'withdraw', ask_id }] : [];
  }
}

function toInput(text: string): readonly Fields[] {
  return [{ type: 'text', text, text_elements: [] }];
}

/** A word, or an object whose one key is the word. */
function toErrorWord(error: Fields): string | undefined {
  const info = error['codexErrorInfo'];
  return textOf(info) ?? Object.keys(fieldsOf(info))[0];
}

function findStatus(info: unknown): number | undefined {
  return Object.values(fieldsOf(info))
    .map((inside) => numberOf(fieldsOf(inside)['httpStatusCode']))
    .find((status) => status !== undefined);
}
