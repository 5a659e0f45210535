import type { TranscriptEntry } from '#contract/transcript.ts';
import type { SaidUsage, Tokens } from '#domain/count-usage.ts';
import { growTotal, sumTotal, type SaidTotal } from '#domain/said-total.ts';
import type { Clock } from '#kernel/clock.ts';
import { classifyFailure } from './classify-failure.ts';
import { fieldsOf, parseFields, textOf, type Fields } from './fields.ts';
import { toSaidCost } from './said-cost.ts';
import { SaidFigures } from './said-figures.ts';
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
  readonly #figures = new SaidFigures();
  #usage: SaidUsage = UNKNOWN_USAGE;
  readonly #tokens: Partial<Record<keyof Tokens, SaidTotal>> = {};
  #cost: SaidTotal | undefined;

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
    const usd = this.#figures.usd(usage['cost_usd']);
    if (usd !== undefined) this.#cost = growTotal(this.#cost, usd);
    const tokens = (name: keyof Tokens): number | null => {
      const said = this.#figures.tokens(usage[name]);
      if (said !== undefined) this.#tokens[name] = growTotal(this.#tokens[name], said);
      const total = this.#tokens[name];
      return total === undefined ? null : sumTotal(total);
    };
    this.#usage = {
      ...UNKNOWN_USAGE,
      input_tokens: tokens('input_tokens'),
      output_tokens: tokens('output_tokens'),
      cached_tokens: tokens('cached_tokens'),
      cost: toSaidCost(this.#cost, 'run'),
      model: textOf(usage['model']) ?? null,
      ...(this.#figures.refused !== undefined && { refused: this.#figures.refused }),
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
