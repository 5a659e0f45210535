import type { RunOutcome, RunUsage } from '#contract/attempt.ts';
import type { TranscriptEntry } from '#contract/transcript.ts';

/**
 * One conversation with an agent's program in its protocol, without the program: lines go in, steps come out. So what
 * a program once said can be played through it again.
 */
export interface ProtocolSession {
  begin(): readonly SessionStep[];
  take(line: string): readonly SessionStep[];
  /** A line that was too long to be read; a request that it held is refused, or the program would wait forever. */
  takeCut(head: string): readonly SessionStep[];
  answer(ask_id: string, decision: Decision, reason: string): readonly SessionStep[];
  /** Whether the agent is told the reason with a refusal; else it has to be said in a message. */
  readonly tells_reasons: boolean;
  /** Undefined where a further message cannot be taken now. */
  send(text: string): readonly SessionStep[] | undefined;
  /** Asks the program to stop what it does. */
  interrupt(): readonly SessionStep[];
  /** The program is silent for a moment: what was said in pieces is told as far as it came. */
  pause?(): readonly SessionStep[];
  report(): SessionReport;
}

export type Decision = 'allowed' | 'denied' | 'expired';

export type SessionStep =
  | { readonly do: 'write'; readonly line: string }
  | { readonly do: 'tell'; readonly entry: TranscriptEntry }
  | { readonly do: 'session'; readonly id: string }
  | { readonly do: 'ask'; readonly ask: PermissionAsk }
  /** The program no longer wants an answer. */
  | { readonly do: 'withdraw'; readonly ask_id: string }
  /** Nothing more is to come. */
  | { readonly do: 'finish' };

export type PermissionKind = 'read' | 'edit' | 'execute' | 'network' | 'other';

export interface PermissionAsk {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
  readonly kind: PermissionKind;
  /** The files that it is about, where they are known. */
  readonly paths: readonly string[];
  /** The whole shell line that would be run, where it is one. */
  readonly command?: string | undefined;
  /** Where it would be run; the checkout where it is left out. */
  readonly cwd?: string | undefined;
}

export interface SessionReport {
  readonly finished: boolean;
  readonly failure: Failure | undefined;
  readonly denials: number;
  /** Nothing worked after the last refusal: it gave up. */
  readonly gave_up: boolean;
  readonly usage: RunUsage;
  readonly structured: unknown;
  readonly last_message: string | undefined;
}

export interface Failure {
  readonly outcome: RunOutcome;
  readonly message: string;
  readonly retry_after?: string | undefined;
}

export const UNKNOWN_USAGE: RunUsage = {
  input_tokens: null,
  output_tokens: null,
  cached_tokens: null,
  cost_usd: null,
};
