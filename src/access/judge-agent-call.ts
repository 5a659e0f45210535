import type { Scope } from './caller.ts';

/** What an agent's token asks for. The names in the input were checked, but not who stands behind the task's id. */
export interface AgentCall {
  /** `task.claim` */
  readonly operation: string;
  readonly access: Scope;
  readonly input: Readonly<Record<string, unknown>>;
  /** The agent that the token was given to. */
  readonly agent: string;
}

export type AgentVerdict =
  | { readonly outcome: 'allowed' }
  /** Allowed to whoever holds the task; `or_free`: also where nobody does, because that is how it is taken. */
  | { readonly outcome: 'if_holder'; readonly id: string; readonly or_free: boolean }
  /** `why` is a sentence for the agent. */
  | { readonly outcome: 'refused'; readonly why: string };

/**
 * Whether an agent's token may do this, whatever its scope: an agent works on the tasks it holds, may take free ones
 * and make new ones, and changes nothing that others rely on. What is not named here is refused, so that a new
 * operation is closed to agents until somebody has thought about it.
 */
export function judgeAgentCall({ operation, access, input, agent }: AgentCall): AgentVerdict {
  if (access === 'read') return ALLOWED;
  const rule = RULES[operation];
  if (rule === undefined) return refuse(`An agent's token cannot do ${operation}`);
  return rule(input, agent);
}

const ALLOWED: AgentVerdict = { outcome: 'allowed' };

type Rule = (input: AgentCall['input'], agent: string) => AgentVerdict;

const RULES: Readonly<Record<string, Rule>> = {
  'task.create': (input, agent) => refuseForOthers(input, agent) ?? refuseSetUp(input) ?? ALLOWED,
  'task.claim': (input, agent) =>
    refuseForOthers(input, agent) ?? refuseForce(input) ?? refuseSetUp(input) ?? ALLOWED,
  'task.release': held,
  'task.close': held,
  'task.reopen': held,
  'task.comment': held,
  'task.transition': held,
  'task.cancel': held,
  'task.heartbeat': held,
  'task.review': held,
  'task.update': (input, agent) =>
    refuseForOthers(input, agent) ??
    refuseSetUp(input) ??
    refuseUndoing(input) ??
    allowClaim(input, agent) ??
    toHolder(input['id'], input['assignee'] === agent || input['agent_id'] === agent),
  'dep.add': (input) => refuseForce(input) ?? toHolder(input['from_id'], false),
  'dep.remove': (input) => toHolder(input['from_id'], false),
};

function held(input: AgentCall['input'], agent: string): AgentVerdict {
  return refuseForOthers(input, agent) ?? refuseForce(input) ?? toHolder(input['id'], false);
}

/** A claim is under the rules of claims alone: one that is lost or refused changes nothing, whatever else it asks. */
function allowClaim(input: AgentCall['input'], agent: string): AgentVerdict | undefined {
  return input['status'] === 'in_progress' && input['assignee'] === agent ? ALLOWED : undefined;
}

function toHolder(id: unknown, orFree: boolean): AgentVerdict {
  if (typeof id !== 'string') return refuse('An agent works on a task of its own: say which by its id');
  return { outcome: 'if_holder', id, or_free: orFree };
}

/** A name in the input stands for somebody else's work, unless it is the agent's own. */
function refuseForOthers(input: AgentCall['input'], agent: string): AgentVerdict | undefined {
  const named = ['assignee', 'agent_id']
    .map((field) => input[field])
    .find((name) => name !== undefined && name !== null && name !== agent);
  return named === undefined
    ? undefined
    : refuse(`This token is ${agent}'s: it cannot act for ${JSON.stringify(named)}`);
}

function refuseForce(input: AgentCall['input']): AgentVerdict | undefined {
  return input['force'] === true ? refuse('An agent cannot force anything') : undefined;
}

/** What runs in review, and how an agent is started, is decided by people: it becomes commands. */
function refuseSetUp(input: AgentCall['input']): AgentVerdict | undefined {
  const field = ['review_config', 'overrides'].find((name) => (input[name] ?? null) !== null);
  return field === undefined ? undefined : refuse(`An agent cannot set ${field}`);
}

/** Null takes away the checks that somebody has set on the very task that the agent works on. */
function refuseUndoing(input: AgentCall['input']): AgentVerdict | undefined {
  return input['review_config'] === null ? refuse('An agent cannot take review_config away') : undefined;
}

function refuse(why: string): AgentVerdict {
  return { outcome: 'refused', why };
}
