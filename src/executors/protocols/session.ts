import type { RunOutcome } from '#contract/attempt.ts';
import type { TranscriptEntry } from '#contract/transcript.ts';
import type { SaidUsage } from '#domain/count-usage.ts';

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
  /** What came of a step `file`. */
  takeFile?(id: string, result: FileResult): readonly SessionStep[];
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
  /** More was used: in the middle of a turn, or at its end. */
  | { readonly do: 'usage'; readonly when: UsageMoment }
  | { readonly do: 'ask'; readonly ask: PermissionAsk }
  /** A file of the checkout is read or written for the program; what came of it goes to `takeFile`. */
  | { readonly do: 'file'; readonly work: FileWork }
  /** The program no longer wants an answer. */
  | { readonly do: 'withdraw'; readonly ask_id: string }
  /** Nothing more is to come. */
  | { readonly do: 'finish' };

/** Lines count from one; what is left out is the whole file. */
export type FileWork = { readonly id: string; readonly path: string } & (
  | { readonly kind: 'read'; readonly line?: number | undefined; readonly limit?: number | undefined }
  | { readonly kind: 'write'; readonly text: string }
);

export type FileResult =
  | { readonly done: true; readonly text: string }
  | { readonly done: false; readonly reason: string };

export type UsageMoment = 'working' | 'turn_end';

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
  readonly usage: SaidUsage;
  readonly structured: unknown;
  readonly last_message: string | undefined;
  /** Messages that were sent and that the program has not taken. */
  readonly unheard?: readonly string[] | undefined;
}

export interface Failure {
  readonly outcome: RunOutcome;
  readonly message: string;
  readonly retry_after?: string | undefined;
}

export const UNKNOWN_USAGE: SaidUsage = {
  input_tokens: null,
  output_tokens: null,
  cached_tokens: null,
  cost: null,
  since_cost: null,
  model: null,
};
