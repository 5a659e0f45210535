import type { Declaration } from '#contract/declare.ts';
import type { Actor } from '#domain/actor.ts';
import { isHeldBy, type Holding } from '#domain/task-holding.ts';
import { allows, type Caller, type Scope } from './caller.ts';
import { findForPeople } from './for-people.ts';
import { judgeAgentCall } from './judge-agent-call.ts';
import { judgeRunCall } from './judge-run-call.ts';
import { requiredScope } from './required-scope.ts';

/** Who asks for an operation, and by which way. */
export type Asker =
  /** By a command line, or a program that it started; an agent that says so, outside of every run. */
  | { readonly way: 'terminal'; readonly actor: Pick<Actor, 'kind' | 'name'> | undefined }
  /** The agent of a run, by the process that watches it. */
  | { readonly way: 'run'; readonly agent: string }
  /** By a server. */
  | { readonly way: 'token'; readonly caller: Pick<Caller, 'actor' | 'scope' | 'projects'> }
  /** By a server, without a token that it knows; also from the same machine. */
  | { readonly way: 'nobody' };

export type AskedOperation = Pick<Declaration, 'name' | 'access' | 'needs' | 'local'> & {
  readonly path: readonly string[];
};

export type Input = Readonly<Record<string, unknown>>;

export type CallDecision =
  | { readonly outcome: 'allowed' }
  /** Allowed to the holder of this task: see `decideHolder`. */
  | HolderCondition
  /** Allowed for the task of the run, or one that its agent has made: see `decideRunTask`. */
  | RunTaskCondition
  | AccessRefusal;

export interface HolderCondition {
  readonly outcome: 'if_holder';
  readonly id: string;
  readonly or_free: boolean;
}

export interface RunTaskCondition {
  readonly outcome: 'if_own';
  readonly id: string;
  readonly own: boolean;
  readonly made: boolean;
}

export type AccessRefusal =
  | { readonly outcome: 'not_admitted' }
  /** It works on the checkout or the terminal of the caller. */
  | { readonly outcome: 'not_by_server' }
  | { readonly outcome: 'scope'; readonly needed: Scope; readonly held: Scope }
  /** It is about the machine, and the token about some projects. */
  | { readonly outcome: 'beyond_projects'; readonly projects: readonly string[] }
  | { readonly outcome: 'not_by_agents_token'; readonly why: string }
  | {
      readonly outcome: 'not_the_holder';
      readonly id: string;
      readonly agent: string;
      readonly assignee: string | null;
    }
  | { readonly outcome: 'not_by_run'; readonly why: string }
  | { readonly outcome: 'for_people'; readonly agent: string; readonly command: string };

const ALLOWED = { outcome: 'allowed' } as const;

/** What is refused whatever the input says, so that it need not be looked at. */
export function decideEntry(asker: Asker, operation: AskedOperation): AccessRefusal | undefined {
  const { name, access, needs, local } = operation;
  switch (asker.way) {
    case 'nobody':
      return { outcome: 'not_admitted' };
    case 'terminal':
      return undefined;
    case 'run':
      // What belongs to the person (agents, tokens, other projects), and what works on the checkout or the terminal.
      return needs === 'project' && local !== true ? undefined : notByRun(name);
    case 'token': {
      if (local === true || needs === 'repository') return { outcome: 'not_by_server' };
      return refuseScope(asker.caller, access);
    }
  }
}

/** The input was checked: its names are those of the operation. */
export function decideCall(asker: Asker, operation: AskedOperation, input: Input): CallDecision {
  const refusal = decideEntry(asker, operation);
  if (refusal !== undefined) return refusal;
  switch (asker.way) {
    case 'nobody':
      return { outcome: 'not_admitted' };
    case 'terminal':
      return decideTerminal(asker.actor, operation, input);
    case 'run': {
      const verdict = judgeRunCall({
        operation: operation.name,
        access: operation.access,
        input,
        agent: asker.agent,
      });
      return verdict.outcome === 'refused' ? { outcome: 'not_by_run', why: verdict.why } : verdict;
    }
    case 'token':
      return decideToken(asker.caller, operation, input);
  }
}

function decideTerminal(
  actor: Pick<Actor, 'kind' | 'name'> | undefined,
  { name, path }: AskedOperation,
  input: Input,
): CallDecision {
  const found = actor?.kind === 'agent' ? findForPeople(name, input) : undefined;
  if (actor === undefined || found === undefined) return ALLOWED;
  const command = ['forge', ...path, ...(found.flag === undefined ? [] : [`--${found.flag}`])].join(' ');
  return { outcome: 'for_people', agent: actor.name, command };
}

function decideToken(
  caller: Pick<Caller, 'actor' | 'scope' | 'projects'>,
  { name, access, needs }: AskedOperation,
  input: Input,
): CallDecision {
  const scope = refuseScope(caller, requiredScope({ name, access }, input));
  if (scope !== undefined) return scope;
  const { actor, projects } = caller;
  // A token for some projects says nothing about the machine: its agents, tokens and other projects.
  if (needs !== 'project' && projects !== undefined) return { outcome: 'beyond_projects', projects };
  if (actor.kind !== 'agent') return ALLOWED;
  const verdict = judgeAgentCall({ operation: name, access, input, agent: actor.name });
  return verdict.outcome === 'refused' ? { outcome: 'not_by_agents_token', why: verdict.why } : verdict;
}

function refuseScope(
  { scope: held }: Pick<Caller, 'scope'>,
  needed: Scope,
): Extract<AccessRefusal, { outcome: 'scope' }> | undefined {
  return allows(held, needed) ? undefined : { outcome: 'scope', needed, held };
}

/** `task` is the one that the condition names, as it stands. */
export function decideHolder(
  { or_free }: HolderCondition,
  task: { readonly id: string; readonly assignee: string | null; readonly roles: readonly string[] },
  agent: string,
):
  | { readonly outcome: 'held'; readonly holding: Holding }
  | Extract<AccessRefusal, { outcome: 'not_the_holder' }> {
  const { id, assignee } = task;
  return isHeldBy(task, agent, { or_free })
    ? { outcome: 'held', holding: { id, agent, or_free } }
    : { outcome: 'not_the_holder', id, agent, assignee };
}

/** `id`: the task that the condition names; `task_id`: that of the run. */
export interface RunTaskFacts {
  readonly id: string;
  readonly task_id: string;
  /** The agent of the run has made it. */
  readonly is_made: boolean;
}

/** Whether it counts who has made the task. */
export function needsMaker(
  { made }: RunTaskCondition,
  { id, task_id }: Omit<RunTaskFacts, 'is_made'>,
): boolean {
  return made && id !== task_id;
}

/** `own`: the task of the run, so that its fence counts. */
export function decideRunTask(
  condition: RunTaskCondition,
  facts: RunTaskFacts,
): { readonly outcome: 'own' | 'made' } | Extract<AccessRefusal, { outcome: 'not_by_run' }> {
  const { id, task_id, is_made } = facts;
  if (id === task_id && condition.own) return { outcome: 'own' };
  if (needsMaker(condition, facts) && is_made) return { outcome: 'made' };
  const what = id === task_id ? 'What a task asks for is' : `${id} is not the task of this run: that is`;
  return { outcome: 'not_by_run', why: `${what} for a person to change` };
}

function notByRun(name: string): AccessRefusal {
  return { outcome: 'not_by_run', why: `An agent cannot do ${name} inside of its run` };
}

/** What the code of an operation may do for the caller: whether steps that it sets may run, and whether it may trust some. */
export function listRights(asker: Asker): { readonly vouches: boolean; readonly trusts: boolean } {
  switch (asker.way) {
    case 'terminal':
      return { vouches: true, trusts: true };
    case 'token':
      return { vouches: allows(asker.caller.scope, 'exec'), trusts: allows(asker.caller.scope, 'admin') };
    case 'run':
    case 'nobody':
      return { vouches: false, trusts: false };
  }
}
