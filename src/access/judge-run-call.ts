import type { Scope } from './caller.ts';

/** What an agent asks for from inside of its run. */
export interface RunCall {
  /** `task.comment` */
  readonly operation: string;
  readonly access: Scope;
  readonly input: Readonly<Record<string, unknown>>;
  readonly agent: string;
}

export type RunVerdict =
  | { readonly outcome: 'allowed' }
  /** Allowed if this is the task of the run (`own`), or one that the agent has created (`made`). */
  | { readonly outcome: 'if_own'; readonly id: string; readonly own: boolean; readonly made: boolean }
  /** `why` is a sentence for the agent. */
  | { readonly outcome: 'refused'; readonly why: string };

/**
 * What an agent may do from inside of its run: read the project, comment on its own task, set metadata and labels of
 * it, and write down work that it finds. Everything else is for a person: a new operation is closed to runs until
 * it has a rule here.
 */
export function judgeRunCall(call: RunCall): RunVerdict {
  if (call.access === 'read') return { outcome: 'allowed' };
  const rule = RULES[call.operation];
  return rule === undefined ? refuse(`An agent cannot do ${call.operation} inside of its run`) : rule(call);
}

const RULES: Readonly<Record<string, (call: RunCall) => RunVerdict>> = {
  'task.comment': ({ input }) => toOwn(input['id'], { own: true, made: true }),
  'task.heartbeat': ({ input }) => toOwn(input['id'], { own: true, made: false }),
  // What the task asks for is what its work is judged by.
  'task.update': ({ input }) =>
    refuseFields(input, [...NOTED, ...DESCRIBED]) ??
    toOwn(input['id'], { own: refuseFields(input, NOTED) === undefined, made: true }),
  'task.create': ({ input, agent }) =>
    refuseFields(input, CREATED) ??
    refuseOwner(input['assignee'], agent) ??
    toParent(input['parent_id'] ?? undefined),
  'dep.add': ({ input }) => refuseFields(input, LINKED) ?? toOwn(input['from_id'], { own: true, made: true }),
};

const NOTED = ['id', 'labels_add', 'labels_remove', 'metadata_set', 'metadata_unset'];
const DESCRIBED = ['title', 'description'];
const CREATED = [
  'title',
  'type',
  'priority',
  'parent_id',
  'assignee',
  'labels',
  'github_issue',
  'description',
  'depends_on',
  'metadata_set',
  'state',
];
const LINKED = ['from_id', 'to_id', 'type'];
/** Conditions of a write, which never do harm. */
const CONDITIONS = ['version', 'fence'];

function refuseFields(input: RunCall['input'], allowed: readonly string[]): RunVerdict | undefined {
  const field = Object.keys(input).find(
    (name) => input[name] !== undefined && !allowed.includes(name) && !CONDITIONS.includes(name),
  );
  return field === undefined ? undefined : refuse(`An agent cannot set ${field} inside of its run`);
}

function refuseOwner(assignee: unknown, agent: string): RunVerdict | undefined {
  const isFree = assignee === undefined || assignee === null || assignee === agent;
  return isFree ? undefined : refuse(`${agent} cannot give work to ${JSON.stringify(assignee)}`);
}

/** A child belongs to its parent: work under another task is for its owner to plan. */
function toParent(id: unknown): RunVerdict {
  return id === undefined ? { outcome: 'allowed' } : toOwn(id, { own: true, made: true });
}

function toOwn(id: unknown, { own, made }: { readonly own: boolean; readonly made: boolean }): RunVerdict {
  return typeof id === 'string'
    ? { outcome: 'if_own', id, own, made }
    : refuse('An agent inside of its run says which task it means by its id');
}

function refuse(why: string): RunVerdict {
  return { outcome: 'refused', why };
}
