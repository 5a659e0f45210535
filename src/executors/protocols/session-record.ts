import { LIMITS } from '#kernel/limits.ts';
import type { Decision, Failure, SessionReport } from './session.ts';

const MAX_FAILED = 1_000;

/** What every protocol keeps of a conversation to say how it ended. */
export class SessionRecord {
  finished = false;
  failure: Failure | undefined;
  structured: unknown;
  #denials = 0;
  #last_message: string | undefined;
  /** Counts what happens, so that it can be told what came first. */
  #steps = 0;
  #last_success = 0;
  #last_denial = 0;
  /** When tools failed that may turn out to have been refused. */
  readonly #failed = new Map<string, number>();

  noteDecision(decision: Decision): void {
    this.#steps += 1;
    if (decision === 'allowed') return;
    this.#denials += 1;
    this.#last_denial = this.#steps;
  }

  noteToolResult(id: string, is_error: boolean): void {
    this.#steps += 1;
    if (!is_error) this.#last_success = this.#steps;
    else if (this.#failed.size < MAX_FAILED) this.#failed.set(id, this.#steps);
  }

  /** All refusals of the conversation, those of the program's own rules included. */
  noteDenials(tool_ids: readonly string[]): void {
    this.#denials = Math.max(this.#denials, tool_ids.length);
    for (const id of tool_ids) this.#last_denial = Math.max(this.#last_denial, this.#failed.get(id) ?? 0);
  }

  noteMessage(text: string): void {
    this.#last_message =
      text.length <= LIMITS.last_message_length ? text : text.slice(-LIMITS.last_message_length);
  }

  get last_message(): string | undefined {
    return this.#last_message;
  }

  report(usage: SessionReport['usage'], unheard: readonly string[] = []): SessionReport {
    return {
      finished: this.finished,
      failure: this.failure,
      denials: this.#denials,
      gave_up: this.#denials > 0 && this.#last_success <= this.#last_denial,
      usage,
      structured: this.structured,
      last_message: this.#last_message,
      unheard: unheard.length === 0 ? undefined : unheard,
    };
  }
}
