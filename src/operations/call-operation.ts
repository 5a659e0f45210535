import type { Caller } from '#access/caller.ts';
import type { Portion } from './operation.ts';

export interface OperationCall {
  /** `task.claim` */
  readonly name: string;
  /** As it came in; it is checked here. */
  readonly input: unknown;
  readonly caller: Caller;
  /** A project's prefix or name. Undefined: what the task's id says, else the only one there is. */
  readonly project?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How much of a list is read in this turn. */
  readonly portion?: Portion | undefined;
}

/**
 * The one way from a server's surfaces to the operations: checks the scope, the input (unknown fields are refused by
 * name), finds the project and runs. Rejects with ForgeError and nothing else.
 */
export interface OperationCaller {
  call(call: OperationCall): Promise<unknown>;
}
