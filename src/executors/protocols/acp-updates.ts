import { fieldsOf, listOf, textOf, wordsOf, type Fields } from './fields.ts';
import type { SessionRecord } from './session-record.ts';
import type { SessionStep } from './session.ts';

/** Text that comes in pieces is told as one entry, and at the latest when it is this long. */
const MAX_PIECE = 65_536;
const MAX_CALLS = 1_000;

/** Turns the updates of a session into entries. */
export class AcpUpdates {
  readonly #record: SessionRecord;
  readonly #calls = new Map<string, Fields>();
  /** Calls that were announced and not told: what they are to do may still be on its way. */
  readonly #held = new Set<string>();
  #kind: 'message' | 'thought' | undefined;
  #text = '';
  /** All pieces of the message that is being said. */
  #message = '';

  constructor(record: SessionRecord) {
    this.#record = record;
  }

  take(update: Fields): readonly SessionStep[] {
    switch (update['sessionUpdate']) {
      case 'agent_message_chunk':
        return this.#addText('message', wordsOf(update['content']));
      case 'agent_thought_chunk':
        return this.#addText('thought', wordsOf(update['content']));
      case 'tool_call':
        return [...this.flush(), ...this.#takeCall(update)];
      case 'tool_call_update':
        return [...this.flush(), ...this.#takeCallUpdate(update)];
      case 'plan':
        return [...this.flush(), { do: 'tell', entry: { kind: 'thought', text: toPlan(update) } }];
      default:
        return [];
    }
  }

  /** Tells what was said so far; the message may go on. */
  pause(): readonly SessionStep[] {
    return this.#tell();
  }

  /** The same, and the next piece begins something new. */
  flush(): readonly SessionStep[] {
    const steps = this.#tell();
    this.#message = '';
    return steps;
  }

  /** Somebody is asked about a call: now it is told, if it was not before. */
  ask(update: Fields): { readonly call: Fields; readonly steps: readonly SessionStep[] } {
    const isNew = !this.#calls.has(textOf(update['toolCallId']) ?? '');
    const call = this.#merge(update);
    const steps = isNew ? [toCall(call)] : this.#release(call);
    return { call, steps: [...this.flush(), ...steps] };
  }

  /** The turn is over: what was announced and never begun is told too. */
  end(): readonly SessionStep[] {
    const held = [...this.#held].map((id) => toCall(this.#calls.get(id) ?? { toolCallId: id }));
    this.#held.clear();
    return [...this.flush(), ...held];
  }

  /** A request may name a call by id alone; what is known of it is added. The first title is the tool's name. */
  #merge(update: Fields): Fields {
    const id = textOf(update['toolCallId']) ?? '';
    const before = this.#calls.get(id);
    const known = Object.entries(update).filter(([, value]) => value !== null && value !== undefined);
    const title = before?.['title'] ?? update['title'];
    const merged = { ...before, ...Object.fromEntries(known), ...(textOf(title) !== undefined && { title }) };
    if (this.#calls.size < MAX_CALLS || before !== undefined) this.#calls.set(id, merged);
    return merged;
  }

  #release(call: Fields): readonly SessionStep[] {
    return this.#held.delete(textOf(call['toolCallId']) ?? '') ? [toCall(call)] : [];
  }

  #addText(kind: 'message' | 'thought', text: string): readonly SessionStep[] {
    const before = this.#kind === kind ? [] : this.flush();
    this.#kind = kind;
    this.#text += text;
    if (kind === 'message') {
      this.#message = (this.#message + text).slice(-MAX_PIECE);
      this.#record.noteMessage(this.#message);
    }
    return this.#text.length < MAX_PIECE ? before : [...before, ...this.#tell()];
  }

  #tell(): readonly SessionStep[] {
    const text = this.#text;
    const kind = this.#kind;
    this.#text = '';
    if (kind === undefined || text === '') return [];
    if (kind === 'thought') return [{ do: 'tell', entry: { kind, text } }];
    return [{ do: 'tell', entry: { kind, role: 'agent', text } }];
  }

  #takeCall(update: Fields): readonly SessionStep[] {
    const call = this.#merge(update);
    const id = textOf(call['toolCallId']) ?? '';
    if (call['status'] === 'pending' && this.#calls.has(id)) {
      this.#held.add(id);
      return [];
    }
    return [toCall(call), ...this.#takeEnd(call)];
  }

  #takeCallUpdate(update: Fields): readonly SessionStep[] {
    const known = this.#calls.has(textOf(update['toolCallId']) ?? '');
    if (!known) return this.#takeCall(update);
    const call = this.#merge(update);
    const told = call['status'] === 'pending' ? [] : this.#release(call);
    return [...told, ...this.#takeEnd(call)];
  }

  #takeEnd(call: Fields): readonly SessionStep[] {
    const status = call['status'];
    if (status !== 'completed' && status !== 'failed') return [];
    const id = textOf(call['toolCallId']) ?? '';
    const is_error = status === 'failed';
    this.#calls.delete(id);
    this.#record.noteToolResult(id, is_error);
    return [{ do: 'tell', entry: { kind: 'tool_result', id, is_error, text: toResult(call) } }];
  }
}

function toCall(call: Fields): SessionStep {
  const id = textOf(call['toolCallId']) ?? '';
  return { do: 'tell', entry: { kind: 'tool_call', id, tool: toToolName(call), input: toInput(call) } };
}

/** A title may be the text of the command, or the path of the file: that is no name of a tool. */
export function toToolName(call: Fields): string {
  const { name, title, kind, toolCallId } = call;
  const [, prefix] = /^([a-z]\w*?)__\1_/.exec(textOf(toolCallId) ?? '') ?? [];
  const named = textOf(name) ?? prefix;
  if (named !== undefined) return named;
  const { command } = fieldsOf(call['rawInput']);
  const isPath = listOf(call['locations']).some(({ path }) => path === title);
  const isCommand =
    kind === 'execute' && (title === command || (command === undefined && /\W/.test(textOf(title) ?? '')));
  const isOther = isCommand || isPath;
  return (isOther ? textOf(kind) : undefined) ?? textOf(title) ?? textOf(kind) ?? 'tool';
}

export function toInput(call: Fields): unknown {
  if (call['rawInput'] !== undefined) return call['rawInput'];
  const { kind, title, locations, content } = call;
  return { kind, title, locations, ...(content !== undefined && { content }) };
}

function toResult(call: Fields): string {
  const parts = listOf(call['content']).map((part) =>
    part['type'] === 'diff' ? `(changed ${textOf(part['path']) ?? 'a file'})` : wordsOf(part['content']),
  );
  const text = parts.filter(Boolean).join('\n');
  if (text !== '') return text;
  const raw = call['rawOutput'];
  if (raw === undefined || raw === null) return '';
  return textOf(raw) ?? textOf(fieldsOf(raw)['output']) ?? JSON.stringify(raw);
}

function toPlan(update: Fields): string {
  return listOf(update['entries'])
    .map((entry) => `- ${textOf(entry['content']) ?? ''} (${textOf(entry['status']) ?? 'pending'})`)
    .join('\n');
}
