import type { TranscriptEntry } from '#contract/transcript.ts';
import type { SaidUsage } from '#domain/count-usage.ts';
import type { Clock } from '#kernel/clock.ts';
import { classifyFailure } from './classify-failure.ts';
import { countOf, fieldsOf, numberOf, parseFields, textOf, type Fields } from './fields.ts';
import { SessionRecord } from './session-record.ts';
import {
  UNKNOWN_USAGE,
  type Decision,
  type PermissionKind,
  type ProtocolSession,
  type SessionReport,
  type SessionStep,
} from './session.ts';
import type { ScriptStep } from './trajectory.ts';

const KINDS: readonly PermissionKind[] = ['read', 'edit', 'execute', 'network', 'other'];

/**
 * What Forge and its player of trajectories say to each other, a JSON object a line. In: `{steps}`, then `{answer,
 * decision}` for each question. Out: `{entry}`, `{ask}`, `{usage}` and at last `{done}`.
 */
export class ScriptSession implements ProtocolSession {
  readonly tells_reasons = true;
  readonly #steps: readonly ScriptStep[];
  readonly #clock: Clock;
  readonly #record = new SessionRecord();
  #usage: SaidUsage = UNKNOWN_USAGE;

  constructor(options: { readonly steps: readonly ScriptStep[]; readonly clock: Clock }) {
    this.#steps = options.steps;
    this.#clock = options.clock;
  }

  begin(): readonly SessionStep[] {
    return [{ do: 'write', line: JSON.stringify({ steps: this.#steps }) }];
  }

  take(line: string): readonly SessionStep[] {
    const { entry, ask, usage, done } = parseFields(line) ?? {};
    if (entry !== undefined) return this.#takeEntry(entry as TranscriptEntry); // our own player wrote it
    if (ask !== undefined) return [this.#takeAsk(fieldsOf(ask))];
    if (usage !== undefined) return [this.#takeUsage(fieldsOf(usage))];
    if (done !== undefined) return this.#takeDone(fieldsOf(done));
    return [{ do: 'tell', entry: { kind: 'output', stream: 'stdout', text: line } }];
  }

  takeCut(): readonly SessionStep[] {
    return [];
  }

  answer(ask_id: string, decision: Decision): readonly SessionStep[] {
    this.#record.noteDecision(decision);
    return [{ do: 'write', line: JSON.stringify({ answer: ask_id, decision }) }];
  }

  send(): undefined {
    return undefined;
  }

  interrupt(): readonly SessionStep[] {
    return [{ do: 'finish' }];
  }

  report(): SessionReport {
    return this.#record.report(this.#usage);
  }

  #takeEntry(entry: TranscriptEntry): readonly SessionStep[] {
    if (entry.kind === 'message') this.#record.noteMessage(entry.text);
    if (entry.kind === 'tool_result') this.#record.noteToolResult(entry.id, entry.is_error);
    return [{ do: 'tell', entry }];
  }

  #takeAsk(ask: Fields): SessionStep {
    const input = fieldsOf(ask['input']);
    const paths = [textOf(input['path']), textOf(input['file_path'])].filter((one) => one !== undefined);
    const kind = KINDS.find((one) => one === ask['kind']) ?? (paths.length > 0 ? 'edit' : 'other');
    const tool = textOf(ask['tool']) ?? 'tool';
    return { do: 'ask', ask: { id: textOf(ask['id']) ?? '', tool, input, kind, paths } };
  }

  #takeUsage(usage: Fields): SessionStep {
    const usd = numberOf(usage['cost_usd']);
    this.#usage = {
      ...UNKNOWN_USAGE,
      input_tokens: countOf(usage['input_tokens']) ?? null,
      output_tokens: countOf(usage['output_tokens']) ?? null,
      cached_tokens: countOf(usage['cached_tokens']) ?? null,
      cost: usd === undefined ? null : { usd, of: 'run' },
      model: textOf(usage['model']) ?? null,
    };
    return { do: 'usage', when: 'turn_end' };
  }

  #takeDone(done: Fields): readonly SessionStep[] {
    this.#record.finished = true;
    this.#record.structured = done['answer'];
    if (done['fail'] === undefined) return [{ do: 'finish' }];
    const fail = fieldsOf(done['fail']);
    const message = textOf(done['fail']) ?? textOf(fail['message']) ?? 'no reason given';
    // Only the type counts: a script that fails with a sentence about limits has failed.
    const type = textOf(fail['type']) ?? 'failed';
    this.#record.failure = classifyFailure({ message, type, status: 0, now: this.#clock.now() });
    return [{ do: 'tell', entry: { kind: 'error', code: type, text: message } }, { do: 'finish' }];
  }
}
