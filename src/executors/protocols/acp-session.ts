import type { Clock } from '#kernel/clock.ts';
import { AcpUpdates } from './acp-updates.ts';
import { toFileAsk, toFileWork } from './acp-files.ts';
import { AcpUsage, type AcpUsageOptions } from './acp-usage.ts';
import { pickOption, toAcpAsk } from './acp-permission.ts';
import { classifyFailure } from './classify-failure.ts';
import { fieldsOf, listOf, numberOf, textOf, type Fields } from './fields.ts';
import { findCutRequest, parseRpc, RpcCalls, type RpcError, type RpcId } from './json-rpc.ts';
import { SessionRecord } from './session-record.ts';
import type {
  Decision,
  FileResult,
  FileWork,
  ProtocolSession,
  SessionReport,
  SessionStep,
} from './session.ts';
import { askForJson, findJsonAnswer } from './structured-answer.ts';

export interface AcpSessionOptions {
  readonly prompt: string;
  readonly cwd: string;
  /** Undefined begins a new session. */
  readonly resume: string | undefined;
  readonly model: string | undefined;
  /** The mode in which the agent asks before it acts, where it does not start in that. */
  readonly mode: string | undefined;
  readonly output_schema: object | undefined;
  readonly counts?: AcpUsageOptions['counts'] | undefined;
  readonly readBooks?: AcpUsageOptions['readBooks'];
  /** What it asks its client to write it writes itself a moment later. */
  readonly writes_itself?: boolean | undefined;
  readonly version: string;
  readonly clock: Clock;
}

type Purpose = 'initialize' | 'session' | 'resume' | 'mode' | 'model' | 'prompt';

const PERMISSION = 'session/request_permission';

/**
 * The Agent Client Protocol, version 1, from the client's side. It offers no files and no terminals; an agent that asks
 * for a file nevertheless gets it, by the rules of an edit.
 */
export class AcpSession implements ProtocolSession {
  readonly tells_reasons = false;
  readonly #options: AcpSessionOptions;
  readonly #record = new SessionRecord();
  readonly #calls = new RpcCalls<Purpose>({ jsonrpc: '2.0' });
  readonly #updates = new AcpUpdates(this.#record);
  readonly #usage: AcpUsage;
  readonly #asked = new Map<string, { readonly id: RpcId; readonly options: readonly Fields[] }>();
  /** Files that a person has to allow, or that are being read or written. */
  readonly #files = new Map<string, { readonly id: RpcId; readonly work: FileWork }>();
  /** What was not said yet: the prompt, and messages that came meanwhile. */
  readonly #queue: string[];
  #prompted = false;
  #session = '';
  /**
   * While an old session is loaded its whole history comes by once more. Some answer first and tell the history
   * then, so it is over when they have nothing more to say.
   */
  #replaying: 'no' | 'loading' | 'answered' = 'no';
  #prompting = false;
  #interrupted = false;

  constructor(options: AcpSessionOptions) {
    this.#options = options;
    this.#queue = [withSchema(options.prompt, options.output_schema)];
    const { resume, counts = 'unclear', model, readBooks } = options;
    this.#usage = new AcpUsage({ resumed: resume !== undefined, counts, model, readBooks });
  }

  begin(): readonly SessionStep[] {
    return [
      this.#calls.call('initialize', 'initialize', {
        protocolVersion: 1,
        clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
        clientInfo: { name: 'forge', title: 'Forge', version: this.#options.version },
      }),
    ];
  }

  take(line: string): readonly SessionStep[] {
    const message = parseRpc(line);
    if (message === undefined)
      return [{ do: 'tell', entry: { kind: 'output', stream: 'stdout', text: line } }];
    switch (message.kind) {
      case 'request':
        return this.#takeRequest(message.id, message.method, message.params);
      case 'notification':
        return message.method === 'session/update'
          ? this.#takeUpdate(fieldsOf(message.params['update']))
          : [];
      case 'result':
        return this.#takeResult(this.#calls.settle(message.id), message.result);
      case 'error':
        return this.#takeError(this.#calls.settle(message.id), message.error);
    }
  }

  takeCut(head: string): readonly SessionStep[] {
    const request = findCutRequest(head);
    if (request === undefined) return [];
    if (request.method !== PERMISSION) return [this.#calls.refuse(request.id, request.method)];
    this.#record.noteDecision('denied');
    return [this.#calls.respond(request.id, { outcome: { outcome: 'cancelled' } })];
  }

  answer(ask_id: string, decision: Decision): readonly SessionStep[] {
    const file = this.#files.get(ask_id);
    if (file !== undefined) return this.#answerFile(ask_id, file, decision);
    const asked = this.#asked.get(ask_id);
    if (asked === undefined) return [];
    this.#asked.delete(ask_id);
    this.#record.noteDecision(decision);
    const optionId = pickOption(asked.options, decision);
    const outcome = optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId };
    return [this.#calls.respond(asked.id, { outcome })];
  }

  /** One turn at a time: it is said when the turn at work has ended. */
  send(text: string): readonly SessionStep[] {
    this.#queue.push(text);
    return [];
  }

  interrupt(): readonly SessionStep[] {
    this.#interrupted = true;
    if (!this.#prompting) return [{ do: 'finish' }];
    // The protocol wants every open question answered when a turn is cancelled.
    const open = [...this.#asked.values()].map(({ id }) =>
      this.#calls.respond(id, { outcome: { outcome: 'cancelled' } }),
    );
    this.#asked.clear();
    return [...open, this.#calls.notify('session/cancel', { sessionId: this.#session })];
  }

  pause(): readonly SessionStep[] {
    if (this.#replaying !== 'answered') return this.#updates.pause();
    this.#replaying = 'no';
    return this.#nextPrompt();
  }

  report(): SessionReport {
    const waiting = this.#prompted ? this.#queue : this.#queue.slice(1);
    return this.#record.report(this.#usage.total(), waiting);
  }

  #takeResult(purpose: Purpose | undefined, result: Fields): readonly SessionStep[] {
    switch (purpose) {
      case 'initialize':
        return this.#openSession(fieldsOf(result['agentCapabilities']));
      case 'session':
      case 'resume':
        return this.#noteSession(result);
      case 'prompt':
        return this.#takePromptEnd(result);
      case 'mode':
      case 'model':
      case undefined:
        return [];
    }
  }

  #openSession(capabilities: Fields): readonly SessionStep[] {
    const { cwd, resume: sessionId } = this.#options;
    const place = { cwd, mcpServers: [] };
    if (sessionId === undefined) return [this.#calls.call('session', 'session/new', place)];
    const can = fieldsOf(capabilities['sessionCapabilities']);
    if (can['resume'] !== undefined && can['resume'] !== null)
      return [this.#calls.call('resume', 'session/resume', { sessionId, ...place })];
    if (capabilities['loadSession'] === true) {
      this.#replaying = 'loading';
      return [this.#calls.call('resume', 'session/load', { sessionId, ...place })];
    }
    return this.#fail('The agent cannot go on with an earlier session', undefined);
  }

  #noteSession(result: Fields): readonly SessionStep[] {
    this.#session = textOf(result['sessionId']) ?? this.#options.resume ?? '';
    this.#usage.openSession(this.#session);
    this.#usage.noteModel(this.#options.model ?? findModel(result));
    const opened: SessionStep[] = [
      { do: 'session', id: this.#session },
      ...this.#setMode(fieldsOf(result['modes'])),
      ...this.#setModel(listOf(result['configOptions'])),
    ];
    if (this.#replaying === 'no') return [...opened, ...this.#nextPrompt()];
    this.#replaying = 'answered';
    return opened;
  }

  #setMode(modes: Fields): readonly SessionStep[] {
    const { mode: modeId } = this.#options;
    if (modeId === undefined || modes['currentModeId'] === modeId) return [];
    if (!listOf(modes['availableModes']).some((one) => one['id'] === modeId)) return [];
    return [this.#calls.call('mode', 'session/set_mode', { sessionId: this.#session, modeId })];
  }

  #setModel(options: readonly Fields[]): readonly SessionStep[] {
    const { model: value } = this.#options;
    const configId = textOf(options.find((one) => one['category'] === 'model')?.['id']);
    if (value === undefined || configId === undefined) return [];
    const params = { sessionId: this.#session, configId, value };
    return [this.#calls.call('model', 'session/set_config_option', params)];
  }

  #nextPrompt(): readonly SessionStep[] {
    const text = this.#interrupted ? undefined : this.#queue.shift();
    if (text === undefined) return [];
    this.#prompted = true;
    this.#prompting = true;
    this.#usage.beginTurn();
    const prompt = [{ type: 'text', text }];
    return [this.#calls.call('prompt', 'session/prompt', { sessionId: this.#session, prompt })];
  }

  #takePromptEnd(result: Fields): readonly SessionStep[] {
    this.#prompting = false;
    this.#usage.noteTurn(result);
    const steps: SessionStep[] = [...this.#updates.end(), { do: 'usage', when: 'turn_end' }];
    const reason = textOf(result['stopReason']) ?? 'no reason';
    if (this.#interrupted || reason === 'cancelled')
      this.#record.failure = { outcome: 'stopped', message: 'The agent was interrupted' };
    else if (reason === 'end_turn') {
      const next = this.#nextPrompt();
      if (next.length > 0) return [...steps, ...next];
    } else this.#record.failure = { outcome: 'failed', message: `The agent stopped early: ${reason}` };
    this.#record.finished = true;
    if (this.#options.output_schema !== undefined)
      this.#record.structured = findJsonAnswer(this.#record.last_message);
    return [...steps, { do: 'finish' }];
  }

  #takeError(purpose: Purpose | undefined, error: RpcError): readonly SessionStep[] {
    switch (purpose) {
      case 'mode':
      case 'model': {
        const text = `The agent did not take the ${purpose}: ${error.message}`;
        return [{ do: 'tell', entry: { kind: 'note', text } }];
      }
      case 'resume':
        return this.#fail(`The agent could not resume the session: ${toReason(error)}`, error);
      case 'initialize':
      case 'session':
      case 'prompt':
        return this.#fail(toReason(error), error);
      case undefined:
        return [];
    }
  }

  #fail(message: string, error: RpcError | undefined): readonly SessionStep[] {
    const failure = classifyFailure({
      message: error === undefined ? message : toReason(error),
      // The protocol's own number for it.
      type: error?.code === -32_000 ? 'auth_required' : textOf(error?.data['type']),
      status: toStatus(error?.code) ?? toStatus(numberOf(error?.data['status'])),
      now: this.#options.clock.now(),
    });
    this.#prompting = false;
    this.#record.failure = { ...failure, message };
    this.#record.finished = true;
    const code = String(error?.code ?? 'error');
    return [
      ...this.#updates.end(),
      { do: 'tell', entry: { kind: 'error', code, text: message } },
      { do: 'finish' },
    ];
  }

  #takeUpdate(update: Fields): readonly SessionStep[] {
    this.#usage.noteUpdate(update);
    if (this.#replaying !== 'no') return [];
    const steps = this.#updates.take(update);
    return this.#usage.isTold(update) ? [...steps, { do: 'usage', when: 'working' }] : steps;
  }

  #takeRequest(id: RpcId, method: string, params: Fields): readonly SessionStep[] {
    const work = toFileWork(id, method, params);
    if (work !== undefined) return this.#takeFileRequest(id, work);
    if (method !== PERMISSION) return [this.#calls.refuse(id, method)];
    const ask_id = String(id);
    const { call, steps } = this.#updates.ask(fieldsOf(params['toolCall']));
    this.#asked.set(ask_id, { id, options: listOf(params['options']) });
    return [...steps, { do: 'ask', ask: toAcpAsk(ask_id, call) }];
  }

  #takeFileRequest(id: RpcId, work: FileWork): readonly SessionStep[] {
    // Written twice, it would take the file for changed behind its back.
    if (work.kind === 'write' && this.#options.writes_itself === true) return [this.#calls.respond(id, {})];
    this.#files.set(work.id, { id, work });
    return [{ do: 'ask', ask: toFileAsk(work) }];
  }

  #answerFile(
    ask_id: string,
    { id, work }: { readonly id: RpcId; readonly work: FileWork },
    decision: Decision,
  ): readonly SessionStep[] {
    this.#record.noteDecision(decision);
    if (decision === 'allowed') return [{ do: 'file', work }];
    this.#files.delete(ask_id);
    return [this.#calls.fail(id, `${work.path} was not allowed`)];
  }

  takeFile(ask_id: string, result: FileResult): readonly SessionStep[] {
    const file = this.#files.get(ask_id);
    if (file === undefined) return [];
    this.#files.delete(ask_id);
    if (!result.done) return [this.#calls.fail(file.id, result.reason)];
    return [this.#calls.respond(file.id, file.work.kind === 'read' ? { content: result.text } : {})];
  }
}

/** The model that a session begins with: in the protocol's place for choices, or in its older one. */
function findModel(result: Fields): string | undefined {
  const chosen = listOf(result['configOptions']).find((one) => one['category'] === 'model');
  return textOf(chosen?.['currentValue']) ?? textOf(fieldsOf(result['models'])['currentModelId']);
}

function withSchema(prompt: string, schema: object | undefined): string {
  return schema === undefined ? prompt : `${prompt}\n\n${askForJson(schema)}`;
}

/** Beside `Internal error` the protocol has a place for what went wrong. */
function toReason({ message, data }: RpcError): string {
  const details = textOf(data['details']);
  return details === undefined ? message : `${message} (${details})`;
}

/** Some agents put the provider's answer where the code of the protocol belongs. */
function toStatus(code: number | undefined): number | undefined {
  return code !== undefined && code >= 400 && code < 600 ? code : undefined;
}
