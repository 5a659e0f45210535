import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { Attempt, AttemptState, Run } from './attempt.ts';
import { declare } from './declare.ts';
import { Duration } from './duration.ts';
import { SuspendedAgent } from './suspension.ts';
import { WorkRef } from './run-operations.ts';
import { Status, TaskRef } from './task.ts';

/** The folder of an attempt, or one that somebody made for themselves. */
export const Workspace = z.object({
  attempt_id: z.string(),
  /** Null for one without a task. */
  task_id: z.string().nullable(),
  name: z.string(),
  branch: z.string(),
  path: z.string(),
  agent: z.string().nullable(),
  state: AttemptState,
  /** A run is at work in it. */
  busy: z.boolean(),
  /** Null where the folder is gone. */
  size_bytes: z.int().nullable(),
  created_at: z.string(),
  /** When it will be removed; null while nobody said. */
  cleanup_at: z.string().nullable(),
  removed_at: z.string().nullable(),
});
export type Workspace = z.output<typeof Workspace>;

export const listWorkspaces = declare({
  name: 'workspace.list',
  summary: 'List the worktrees of attempts: where they are, how large, and how long they stay',
  input: z.object({ all: z.boolean().optional().describe('Also those whose folder is gone') }),
  output: z.object({
    workspaces: z.array(Workspace),
    total_bytes: z.int(),
    /** What the project may use of the disk: workspace.disk_limit_gb. */
    limit_bytes: z.int(),
    /** Under which they lie. */
    root: z.string(),
  }),
  errors: [],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/workspaces' },
  cli: {
    path: ['workspace', 'list'],
    examples: ['forge workspace list', 'forge workspace list --all --json'],
  },
});

export const cleanWorkspaces = declare({
  name: 'workspace.clean',
  summary: 'Remove worktrees that are not needed any more; what is not committed is kept in a rescue ref',
  about:
    'Without arguments those whose time has come. Branches and commits stay; what was not committed can be brought back with `forge workspace rescue`. A worktree with a run at work is never removed.',
  input: z.object({
    attempts: z.array(WorkRef).max(LIMITS.batch_tasks).optional().describe('These, whatever their time'),
    all: z.boolean().optional().describe('All of them, of unfinished attempts too'),
    older_than: Duration.optional().describe('All in which nothing was done for so long: 30m, 2h, 7d'),
  }),
  output: z.object({
    removed: z.array(
      z.object({
        attempt_id: z.string(),
        task_id: z.string().nullable(),
        path: z.string(),
        /** Refs that hold what was not committed. */
        rescued: z.array(z.string()),
      }),
    ),
    kept: z.array(z.object({ attempt_id: z.string(), path: z.string(), why: z.string() })),
  }),
  errors: ['not_found', 'ambiguous_id', 'state_invalid', 'usage', 'permission_denied', 'untrusted'],
  access: 'exec',
  needs: 'project',
  http: { method: 'post', path: '/workspaces/clean', long: true },
  cli: {
    path: ['workspace', 'clean'],
    args: ['attempts'],
    flags: { older_than: { placeholder: 'time' } },
    examples: [
      'forge workspace clean',
      'forge workspace clean --older-than 7d',
      'forge workspace clean --all --json',
    ],
  },
});

export const rescueWorkspaces = declare({
  name: 'workspace.rescue',
  summary: 'List what was rescued from removed worktrees, or make a branch of it',
  input: z.object({
    attempt: WorkRef.optional().describe('Only of this attempt'),
    restore: z.string().min(1).max(200).optional().describe('Make this branch of the newest one'),
    number: z.int().min(1).max(1_000_000).optional().describe('With --restore: which one, if not the newest'),
  }),
  output: z.object({
    rescues: z.array(
      z.object({
        attempt_id: z.string(),
        number: z.int(),
        ref: z.string(),
        commit: z.string(),
        at: z.string(),
        subject: z.string(),
        task_id: z.string().nullable(),
      }),
    ),
    /** The branch that was made. */
    branch: z.string().nullable(),
    /** How long they stay from when a person was first shown them, and how many may; the newest of each task stays. */
    allowed: z.object({ days: z.int(), number: z.int() }),
  }),
  errors: ['not_found', 'ambiguous_id', 'already_exists', 'usage'],
  access: 'exec',
  needs: 'project',
  http: { method: 'post', path: '/workspaces/rescue' },
  cli: {
    path: ['workspace', 'rescue'],
    args: ['attempt'],
    flags: { restore: { placeholder: 'branch' } },
    examples: ['forge workspace rescue', 'forge workspace rescue 35a4 --restore saved'],
  },
});

const Worktree = z.object({
  project: z.string(),
  /** Null without a task. */
  task_id: z.string().nullable(),
  attempt_id: z.string(),
  branch: z.string(),
  path: z.string(),
  /** False where the task had it already. */
  created: z.boolean(),
});
const worktreeErrors = [
  'not_found',
  'ambiguous_id',
  'already_exists',
  'state_invalid',
  'permission_denied',
  'untrusted',
  'disk_full',
  'usage',
] as const;

const AttemptNumber = z
  .int()
  .min(1)
  .max(1_000_000)
  .optional()
  .describe('With a task that has several open attempts: the number of the one');

export const openWorkspace = declare({
  name: 'workspace.open',
  summary: 'A worktree of this project for yourself: of a task, or without one',
  about:
    'It is made in the same way as those of agents: a folder and a branch of its own that share nothing with your checkout but the objects. With a task it is the worktree of its attempt, which is started where there is none.',
  input: z.object({ task: TaskRef.optional().describe('The task to work on'), attempt: AttemptNumber }),
  output: Worktree,
  errors: worktreeErrors,
  access: 'exec',
  needs: 'project',
  local: true,
  cli: {
    path: ['workspace', 'open'],
    args: ['task'],
    flags: { attempt: { placeholder: 'number' } },
    examples: [
      'forge workspace open fg-a3f8',
      'forge workspace open fg-a3f8 --attempt 2',
      'forge workspace open --json',
    ],
  },
});

export const makeWorktree = declare({
  name: 'worktree',
  summary: 'A worktree of a registered project for yourself, from wherever you are',
  about: 'The same as `forge workspace open` in that project. `forge project list` shows what is registered.',
  input: z.object({
    project: z.string().min(1).max(LIMITS.project_name_length).describe('Name or prefix of the project'),
    task: TaskRef.optional().describe('The task to work on'),
    attempt: AttemptNumber,
  }),
  output: Worktree,
  errors: [...worktreeErrors, 'not_a_project'],
  access: 'exec',
  needs: 'nothing',
  local: true,
  cli: {
    path: ['worktree'],
    args: ['project', 'task'],
    flags: { attempt: { placeholder: 'number' } },
    examples: ['forge worktree backend', 'forge worktree backend pb-x1y2 --json'],
  },
});

export const whereAmI = declare({
  name: 'whereami',
  summary: 'Say whose worktree this is: project, task, attempt, run, GitHub issue and wish',
  about:
    'Of this folder, of a path, or of a branch of an attempt. It asks no server: the worktree and the project know it. A wish is a folder of .genie/wishes whose name holds that of the attempt, or is part of the title of its task.',
  input: z.object({ place: z.string().min(1).max(4_096).optional().describe('A path, or a branch') }),
  output: z.object({
    project: z.object({ name: z.string(), prefix: z.string(), path: z.string() }),
    task: z.object({ id: z.string(), title: z.string(), status: Status, state: z.string() }).nullable(),
    /** The id of the task where that was deleted. */
    deleted_task: z.string().nullable(),
    attempt: Attempt.pick({ id: true, name: true, branch: true, path: true, state: true }).nullable(),
    /** The one at work, else the last. */
    run: Run.pick({ id: true, agent: true, role: true, state: true, outcome: true }).nullable(),
    github_issue: z.int().nullable(),
    wish: z.string().nullable(),
  }),
  errors: ['not_found', 'ambiguous_id', 'not_a_project'],
  access: 'read',
  needs: 'nothing',
  local: true,
  cli: {
    path: ['whereami'],
    args: ['place'],
    examples: ['forge whereami', 'forge whereami forge/35a4-an-example --json'],
  },
});

const ConflictSide = z.object({ attempt_id: z.string(), task_id: z.string(), branch: z.string() });

export const forecast = declare({
  name: 'forecast',
  summary: 'Which unfinished attempts would conflict with each other or with their target',
  about:
    'By merging, in memory, what was last harvested of each. Attempts at the same task are not held against each other: one of them will be picked.',
  input: z.object({}),
  output: z.object({
    /** How many attempts were looked at. */
    attempts: z.int(),
    target: z.array(ConflictSide.extend({ target: z.string(), files: z.array(z.string()) })),
    pairs: z.array(z.object({ a: ConflictSide, b: ConflictSide, files: z.array(z.string()) })),
  }),
  errors: ['permission_denied'],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/forecast' },
  cli: { path: ['forecast'], examples: ['forge forecast', 'forge forecast --json'] },
});

export const listClis = declare({
  name: 'cli.list',
  summary: 'Find the agent CLIs on this machine, and see whether each answers',
  about: 'Each is asked for its version and greeted in its own protocol. No model is asked anything.',
  input: z.object({}),
  output: z.array(
    z.object({
      executor: z.string(),
      program: z.string(),
      found: z.boolean(),
      path: z.string().nullable(),
      version: z.string().nullable(),
      /** It speaks the protocol that Forge speaks with it. */
      answers: z.boolean(),
      problem: z.string().nullable(),
      install: z.string().nullable(),
      /** Agents that are run by it and that Forge does not start for now. */
      suspended: z.array(SuspendedAgent),
    }),
  ),
  errors: ['not_available'],
  access: 'exec',
  needs: 'nothing',
  http: { method: 'get', path: '/clis' },
  cli: { path: ['clis'], examples: ['forge clis', 'forge clis --json'] },
});
