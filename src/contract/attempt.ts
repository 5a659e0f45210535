import * as z from 'zod';

/** The runtime rows of a task's work, as every surface shows them. */

export const ATTEMPT_STATES = ['active', 'merged', 'archived'] as const;
/** `active` until it was merged or given up. */
export const AttemptState = z.enum(ATTEMPT_STATES);
export type AttemptState = z.output<typeof AttemptState>;

/** Who or what decides between several attempts at one task. */
export const PICK_RULES = ['first_green', 'smallest_green', 'reviewer', 'person'] as const;
export const PickRule = z.enum(PICK_RULES);
export type PickRule = z.output<typeof PickRule>;

/** One isolated try at a task: a checkout of its own on a branch of its own. */
export const Attempt = z.object({
  id: z.string(),
  task_id: z.string(),
  /** 1 for the task's first. */
  number: z.int(),
  /** `35a4-add-rate-limitin`: the folder, and the branch behind `forge/`. */
  name: z.string(),
  branch: z.string(),
  path: z.string(),
  /** The branch that it is to be merged into. */
  target: z.string(),
  base_commit: z.string(),
  /** What was harvested last; null before the first harvest. */
  head_commit: z.string().nullable(),
  agent: z.string().nullable(),
  state: AttemptState,
  /** The first of its leased ports. */
  port: z.int().nullable(),
  /** How one of several is picked, where that was said when they were begun; else the settings say. */
  pick: PickRule.nullable(),
  /** Where its folder's HEAD stands while it is not on its branch: `on main`, `in the middle of a rebase`. */
  strayed: z.string().nullable(),
  merge_commit: z.string().nullable(),
  created_at: z.string(),
  finished_at: z.string().nullable(),
  /** When the folder may go; null while nobody said. */
  cleanup_at: z.string().nullable(),
  /** Since when the folder is gone. */
  removed_at: z.string().nullable(),
});
export type Attempt = z.output<typeof Attempt>;

/** How far an attempt has come. */
export const ATTEMPT_RESULTS = [
  /** Nobody has worked there. */
  'unbegun',
  'working',
  /** Whoever watched its run is gone. */
  'cut_off',
  /** Its run did not end well. */
  'failed',
  /** Its agent could not work: it is suspended. */
  'unavailable',
  /** Its run ended well; no checks have run on what it left. */
  'unchecked',
  'red',
  /** All checks passed on exactly its head. */
  'green',
] as const;

/** An attempt with what became of it, to be compared with others at the same task. */
export const AttemptView = Attempt.extend({
  result: z.enum(ATTEMPT_RESULTS),
  /** What failed. */
  message: z.string().nullable(),
  /** From its base to its head; null before the first harvest, and where the commits are not here. */
  changes: z.object({ files: z.int(), insertions: z.int(), deletions: z.int() }).nullable(),
});
export type AttemptView = z.output<typeof AttemptView>;

export const RUN_STATES = [
  'draft',
  'planned',
  'approved',
  'scheduled',
  'running',
  'verifying',
  'completed',
  'failed',
  'blocked',
  'cancelled',
] as const;
export const RunState = z.enum(RUN_STATES);
export type RunState = z.output<typeof RunState>;

/** How a run ended, whatever the exit code of its program says. */
export const RUN_OUTCOMES = [
  'completed',
  /** It ended well and changed nothing. */
  'no_change',
  /** What it wanted to do was refused, and it gave up. */
  'denied',
  'failed',
  'timeout',
  /** The provider wants us to wait; nobody's fault. */
  'usage_limit',
  /** The provider or the network could not be reached, or is overloaded. */
  'unavailable',
  /** It is not logged in, or its account may not do it. */
  'auth',
  /** Its program is not there, or cannot be started. */
  'not_installed',
  'stopped',
  /** What it used has reached a cap of the settings; a person says how it goes on. */
  'cap_reached',
  /** Whoever watched it is gone. */
  'crashed',
] as const;
export const RunOutcome = z.enum(RUN_OUTCOMES);
export type RunOutcome = z.output<typeof RunOutcome>;

/** Null where the program did not say. */
export const RunUsage = z.object({
  input_tokens: z.int().nullable(),
  output_tokens: z.int().nullable(),
  cached_tokens: z.int().nullable(),
  cost_usd: z.number().nullable(),
  /** Whether its program said the cost, or it follows from a table of prices. Null where there is none. */
  cost_source: z.enum(['reported', 'estimated']).nullable().default(null),
  /** What the program said of its whole session: the next run of the session counts from here. */
  session_cost_usd: z.number().nullable().default(null),
});
export type RunUsage = z.output<typeof RunUsage>;

/** One execution of an agent inside an attempt. */
export const Run = z.object({
  id: z.string(),
  task_id: z.string(),
  attempt_id: z.string(),
  /** The role it works in: `coder`, `reviewer`, `planner` or one of the workflow's own. */
  role: z.string(),
  agent: z.string(),
  executor: z.string(),
  /** The claim that it was started under: one whose task has another number has lost it. Null for older ones. */
  fence: z.int().nullable(),
  /** The state of the task that it works in. */
  in_state: z.string().nullable(),
  state: RunState,
  outcome: RunOutcome.nullable(),
  message: z.string().nullable(),
  /** Of the program's own conversation, to go on with. */
  session_id: z.string().nullable(),
  pid: z.int().nullable(),
  usage: RunUsage,
  retry_after: z.string().nullable(),
  created_at: z.string(),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
});
export type Run = z.output<typeof Run>;

export const StepResult = z.object({
  command: z.string(),
  /** Null where it was ended before it had one. */
  exit_code: z.int().nullable(),
  duration_ms: z.int(),
  /** Its last lines. */
  output: z.string(),
  /** `setup_missing`: it passes only beside files that git does not carry, and the project does not say how to make them. */
  outcome: z.enum([
    'passed',
    'failed',
    'timeout',
    'output_limit',
    'start_failed',
    'stopped',
    'setup_missing',
  ]),
  /** It did not run this time: the same command passed on the same tree before. Left out where it ran. */
  reused_from: z
    .object({
      /** The review that ran it; null where a merge did. */
      review_id: z.string().nullable(),
      /** When it ran. */
      at: z.string(),
    })
    .optional(),
});
export type StepResult = z.output<typeof StepResult>;

export const Finding = z.object({
  severity: z.enum(['blocker', 'major', 'minor']),
  file: z.string().optional(),
  line: z.int().optional(),
  message: z.string(),
});
export type Finding = z.output<typeof Finding>;

export const Verdict = z.object({
  verdict: z.enum(['pass', 'reject']),
  summary: z.string(),
  findings: z.array(Finding),
});
export type Verdict = z.output<typeof Verdict>;

export const REVIEW_STATUSES = ['running', 'waiting', 'passed', 'failed', 'void'] as const;
/**
 * One pass of the CI steps, and of the holder of the gate where there is one, over one commit. `waiting`: the checks
 * passed, and a person or an agent that Forge does not start has yet to say whether the work passes.
 */
export const Review = z.object({
  id: z.string(),
  task_id: z.string(),
  /** Null where a task passed that has none. */
  attempt_id: z.string().nullable(),
  /** Rises with every review of the task. */
  attempt_number: z.int(),
  status: z.enum(REVIEW_STATUSES),
  head_commit: z.string().nullable(),
  step_results: z.array(StepResult),
  /** Of the holder of the gate; null where there is none, or before it was said. */
  verdict: Verdict.nullable(),
  /** Who gave the verdict: `agent:critic`, `user:ann`. */
  verdict_by: z.string().nullable(),
  /** The run of the auditor; null where a person or an agent that Forge does not start gave the verdict. */
  run_id: z.string().nullable(),
  /** Since when it counts no more, because the work went to somebody else. */
  cleared_at: z.string().nullable(),
  started_at: z.string(),
  finished_at: z.string().nullable(),
});
export type Review = z.output<typeof Review>;

export const MERGE_STATES = [
  'queued',
  'started',
  'landed',
  'conflict',
  'ci_failed',
  'refused',
  /** Something of the user's was in the way, or other processes kept the target busy: it is tried again. */
  'postponed',
  'dropped',
] as const;
export const ConflictFile = z.object({ path: z.string(), kind: z.string() });
export type ConflictFile = z.output<typeof ConflictFile>;
/** One place in the queue of a target branch. */
export const Merge = z.object({
  id: z.string(),
  task_id: z.string(),
  attempt_id: z.string(),
  target: z.string(),
  strategy: z.enum(['merge', 'squash', 'rebase']),
  state: z.enum(MERGE_STATES),
  head_commit: z.string(),
  /** The commit that was tested, and stands on the target when it has landed. */
  candidate: z.string().nullable(),
  conflicts: z.array(ConflictFile),
  message: z.string().nullable(),
  queued_at: z.string(),
  finished_at: z.string().nullable(),
});
export type Merge = z.output<typeof Merge>;

/** What a person allowed for the rest of a task: this very line, or every command that begins with these words. */
export const AlwaysRule = z.object({ kind: z.enum(['line', 'prefix']), text: z.string() });
export type AlwaysRule = z.output<typeof AlwaysRule>;

export const Approval = z.object({
  id: z.string(),
  run_id: z.string(),
  task_id: z.string(),
  tool: z.string(),
  /** What the tool would be given. */
  input: z.unknown(),
  /** The whole command that would be run, where it is one. */
  command: z.string().nullable().default(null),
  /** The files that it is about, where they are known. */
  paths: z.array(z.string()).default([]),
  state: z.enum(['pending', 'allowed', 'denied', 'expired']),
  asked_at: z.string(),
  answered_at: z.string().nullable(),
  answered_by: z.string().nullable(),
  /** Why it was refused. */
  reason: z.string().nullable().default(null),
  always: AlwaysRule.nullable().default(null),
  /** When `always` was taken back. */
  forgotten_at: z.string().nullable().default(null),
});
export type Approval = z.output<typeof Approval>;

/** What somebody who plans answers with. */
export const Plan = z.object({
  summary: z.string(),
  subtasks: z.array(
    z.object({
      title: z.string(),
      description: z.string(),
      /** Positions in this list, from 0, of what has to be done before. */
      depends_on: z.array(z.int().min(0)),
    }),
  ),
  checklist: z.array(z.string()),
});
export type Plan = z.output<typeof Plan>;

/** What a reviewer answers with who chooses between attempts. */
export const Choice = z.object({
  /** Its number. */
  attempt: z.int(),
  why: z.string(),
});
export type Choice = z.output<typeof Choice>;
