import type { Clock } from '#kernel/clock.ts';
import { toClaudeAsk } from './claude-tools.ts';
import { ClaudeMessages } from './claude-messages.ts';
import { ClaudeUsage } from './claude-usage.ts';
import { classifyFailure } from './classify-failure.ts';
import { countOf, fieldsOf, listOf, numberOf, parseFields, textOf, wordsOf, type Fields } from './fields.ts';
import { SessionRecord } from './session-record.ts';
import type { Decision, ProtocolSession, SessionReport, SessionStep } from './session.ts';

export interface ClaudeSessionOptions {
  readonly prompt: string;
  readonly session_id: string;
  readonly clock: Clock;
  /** A new name for each message. */
  readonly createId: () => string;
}

/** Claude Code's control protocol: `--input-format stream-json --permission-prompt-tool stdio`. */
export class ClaudeSession implements ProtocolSession {
  readonly tells_reasons = true;
  readonly #options: ClaudeSessionOptions;
  readonly #record = new SessionRecord();
  /** Inputs of requests that wait for an answer; an allowed one is sent back. */
  readonly #asked = new Map<string, Fields>();
  #session_id: string;
  #requests = 0;
  readonly #usage = new ClaudeUsage();
  readonly #messages = new ClaudeMessages();
  #interrupted = false;
  #resets_at: number | undefined;

  constructor(options: ClaudeSessionOptions) {
    this.#options = options;
    this.#session_id = options.session_id;
  }

  begin(): readonly SessionStep[] {
    return [this.#request({ subtype: 'initialize' }), this.#say(this.#options.prompt, 'prompt')];
  }

  take(line: string): readonly SessionStep[] {
    const message = parseFields(line);
    if (message === undefined)
      return [{ do: 'tell', entry: { kind: 'output', stream: 'stdout', text: line } }];
    switch (message['type']) {
      case 'system':
        return this.#takeSystem(message);
      case 'assistant':
        return this.#takeAssistant(message);
      case 'user':
        return this.#takeToolResults(message);
      case 'result':
        return this.#takeResult(message);
      case 'control_request':
        return this.#takeRequest(message);
      case 'control_response':
        return this.#takeResponse(message);
      case 'control_cancel_request':
        return this.#takeCancel(textOf(message['request_id']) ?? '');
      case 'command_lifecycle':
        return this.#takeLifecycle(message);
      case 'rate_limit_event':
        this.#noteRateLimit(fieldsOf(message['rate_limit_info']));
        return [];
      default:
        return [];
    }
  }

  takeCut(head: string): readonly SessionStep[] {
    if (!head.startsWith('{"type":"control_request"')) return [];
    const [, id] = /"request_id":"([^"]+)"/.exec(head) ?? [];
    if (id === undefined) return [];
    this.#record.noteDecision('denied');
    return [toDenial(id, 'The request is too long to be judged; do it in smaller steps')];
  }

  answer(ask_id: string, decision: Decision, reason: string): readonly SessionStep[] {
    const input = this.#asked.get(ask_id);
    if (input === undefined) return [];
    this.#asked.delete(ask_id);
    this.#record.noteDecision(decision);
    if (decision !== 'allowed') return [toDenial(ask_id, reason)];
    return [toResponse(ask_id, { behavior: 'allow', updatedInput: input })];
  }

  send(text: string): readonly SessionStep[] {
    return [this.#say(text, 'message')];
  }

  interrupt(): readonly SessionStep[] {
    this.#interrupted = true;
    return [this.#request({ subtype: 'interrupt' })];
  }

  report(): SessionReport {
    return this.#record.report(this.#usage.total(), this.#messages.unheard());
  }

  #say(text: string, what: 'prompt' | 'message'): SessionStep {
    const uuid = this.#options.createId();
    this.#messages.add({ uuid, text, what });
    return toLine({ type: 'user', uuid, message: { role: 'user', content: text } });
  }

  #request(request: Fields): SessionStep {
    this.#requests += 1;
    const request_id = `forge-${this.#requests}`;
    return toLine({ type: 'control_request', request_id, request });
  }

  #takeSystem(message: Fields): readonly SessionStep[] {
    if (message['subtype'] === 'api_retry') {
      const status = numberOf(message['error_status']);
      const text = `The provider answered ${status ?? 'nothing'} (${textOf(message['error']) ?? 'no reason'}), trying again`;
      return [{ do: 'tell', entry: { kind: 'note', text } }];
    }
    const id = textOf(message['session_id']);
    if (message['subtype'] === 'init') this.#usage.noteModel(textOf(message['model']));
    if (message['subtype'] !== 'init' || id === undefined || id === this.#session_id) return [];
    this.#session_id = id;
    return [{ do: 'session', id }];
  }

  #takeAssistant(message: Fields): readonly SessionStep[] {
    if (message['is_api_error_message'] === true) return [this.#noteError(message)];
    const { content } = fieldsOf(message['message']);
    // What a helper of the agent says is part of the work, and not the agent's last word.
    const own = message['parent_tool_use_id'] === null || message['parent_tool_use_id'] === undefined;
    const isNew = this.#usage.noteMessage(fieldsOf(message['message']));
    const told = listOf(content).flatMap((block): SessionStep[] => {
      const text = textOf(block['text']) ?? textOf(block['thinking']) ?? '';
      switch (block['type']) {
        case 'text':
          if (own) this.#record.noteMessage(text);
          return [{ do: 'tell', entry: { kind: 'message', role: 'agent', text } }];
        case 'thinking':
          return text === '' ? [] : [{ do: 'tell', entry: { kind: 'thought', text } }];
        case 'tool_use':
          return [{ do: 'tell', entry: toToolCall(block) }];
        default:
          return [];
      }
    });
    return isNew ? [...told, { do: 'usage', when: 'working' }] : told;
  }

  #noteError(message: Fields): SessionStep {
    const text = wordsOf(fieldsOf(message['message'])['content']);
    const code = textOf(message['error']) ?? textOf(message['api_error_type']) ?? 'api_error';
    this.#record.failure = this.#classify(message, text);
    return { do: 'tell', entry: { kind: 'error', code, text } };
  }

  #classify(message: Fields, text: string) {
    return classifyFailure({
      message: text,
      status: countOf(message['api_error_status']),
      type: textOf(message['api_error_type']) ?? textOf(message['error']),
      resets_at: this.#resets_at,
      now: this.#options.clock.now(),
    });
  }

  #takeToolResults(message: Fields): readonly SessionStep[] {
    return listOf(fieldsOf(message['message'])['content'])
      .filter((block) => block['type'] === 'tool_result')
      .map((block) => {
        const is_error = block['is_error'] === true;
        const id = textOf(block['tool_use_id']) ?? '';
        this.#record.noteToolResult(id, is_error);
        return { do: 'tell', entry: { kind: 'tool_result', id, is_error, text: wordsOf(block['content']) } };
      });
  }

  #takeResult(message: Fields): readonly SessionStep[] {
    this.#usage.noteResult(message);
    this.#messages.noteResult(message);
    const text = textOf(message['result']);
    if (message['is_error'] === true) this.#noteFailedTurn(message, text);
    else {
      this.#record.failure = undefined;
      this.#record.structured = message['structured_output'];
      if (text !== undefined && text !== '') this.#record.noteMessage(text);
    }
    const denials = listOf(message['permission_denials']);
    this.#record.noteDenials(denials.map((one) => textOf(one['tool_use_id']) ?? ''));
    // Messages that came while it worked are answered in turns of their own.
    return [{ do: 'usage', when: 'turn_end' }, ...this.#finishIfAnswered()];
  }

  /** Its input stays open while a message has no answer: what it asks then could not be answered otherwise. */
  #finishIfAnswered(): readonly SessionStep[] {
    if (this.#record.finished || (!this.#interrupted && this.#messages.areOpen())) return [];
    this.#record.finished = true;
    return [{ do: 'finish' }];
  }

  #takeLifecycle(message: Fields): readonly SessionStep[] {
    const isOver = this.#messages.noteState(textOf(message['command_uuid']), textOf(message['state']));
    return isOver ? this.#finishIfAnswered() : [];
  }

  #noteFailedTurn(message: Fields, text: string | undefined): void {
    const errors = Array.isArray(message['errors'])
      ? message['errors'].filter((one) => typeof one === 'string')
      : [];
    const said = text ?? errors.join('; ');
    const subtype = textOf(message['subtype']) ?? 'error';
    const sentence = said === '' ? `Claude ended its turn with ${subtype}` : said;
    // A turn that failed for the provider's sake has said so already, in more detail.
    this.#record.failure ??= this.#classify(message, sentence);
  }

  #takeRequest(message: Fields): readonly SessionStep[] {
    const id = textOf(message['request_id']) ?? '';
    const request = fieldsOf(message['request']);
    if (request['subtype'] !== 'can_use_tool') return [toRefusal(id, textOf(request['subtype']) ?? '')];
    this.#asked.set(id, fieldsOf(request['input']));
    return [{ do: 'ask', ask: toClaudeAsk(id, request) }];
  }

  #takeResponse(message: Fields): readonly SessionStep[] {
    const response = fieldsOf(message['response']);
    if (response['subtype'] !== 'error' || response['request_id'] !== 'forge-1') return [];
    const said = textOf(response['error']) ?? 'it does not say why';
    const failure = classifyFailure({ message: said, now: this.#options.clock.now() });
    this.#record.failure = { ...failure, message: `Claude refused to start: ${said}` };
    this.#record.finished = true;
    return [{ do: 'tell', entry: { kind: 'error', code: 'initialize', text: said } }, { do: 'finish' }];
  }

  #takeCancel(id: string): readonly SessionStep[] {
    return this.#asked.delete(id) ? [{ do: 'withdraw', ask_id: id }] : [];
  }

  #noteRateLimit(info: Fields): void {
    const seconds = numberOf(info['resetsAt']);
    if (info['status'] === 'rejected' && seconds !== undefined) this.#resets_at = seconds * 1_000;
  }
}

function toToolCall(block: Fields) {
  const { id, name, input } = block;
  return { kind: 'tool_call', id: textOf(id) ?? '', tool: textOf(name) ?? 'unknown', input } as const;
}

function toDenial(request_id: string, message: string): SessionStep {
  return toResponse(request_id, { behavior: 'deny', message });
}

function toResponse(request_id: string, response: Fields): SessionStep {
  return toLine({ type: 'control_response', response: { subtype: 'success', request_id, response } });
}

function toRefusal(request_id: string, subtype: string): SessionStep {
  const error = `Forge does not answer ${subtype}`;
  return toLine({ type: 'control_response', response: { subtype: 'error', request_id, error } });
}

function toLine(message: Fields): SessionStep {
  return { do: 'write', line: JSON.stringify(message) };
}
