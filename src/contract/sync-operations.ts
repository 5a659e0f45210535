import * as z from 'zod';
import { KEPT_LIMITS } from '#kernel/kept-limits.ts';
import { declare } from './declare.ts';
import { Fence } from './task.ts';

const ExportedFile = z.object({ path: z.string(), lines: z.int(), changed: z.boolean() });
const Unreadable = z.object({ number: z.int(), why: z.string() });
const Counts = {
  created: z.int(),
  updated: z.int(),
  deleted: z.int(),
  unchanged: z.int(),
  unreadable: z.array(Unreadable),
  /** How many more there are; left out where there are none. */
  unreadable_more: z.int().optional(),
};

export const exportTasks = declare({
  name: 'sync.export',
  summary: 'Write every task to .forge/tasks.jsonl',
  about:
    'What the file holds already is joined in first, so that nothing in it is lost; an unchanged state gives the same bytes. The pre-commit hook does this for you. With `settings.gcOnExport: false` changed tasks are added at the end instead, unless --gc asks for one sorted line a task.',
  input: z.object({
    gc: z.boolean().optional().describe('One line a task, sorted, whatever the config says'),
  }),
  output: z.object({ tasks: ExportedFile, history: ExportedFile }),
  errors: ['io_failed', 'disk_full', 'permission_denied', 'read_only'],
  access: 'task',
  needs: 'project',
  local: true,
  cli: { path: ['export'], examples: ['forge export', 'forge export --gc'] },
});

export const importTasks = declare({
  name: 'sync.import',
  summary: 'Join tasks from a file, a revision or another tool into this project',
  about:
    'Without arguments it reads .forge/tasks.jsonl, which every command does by itself where the file changed. Importing is joining: the same file twice changes nothing, and an older one takes nothing back. Lines that cannot be read are reported and stay in the file. What becomes of the fields of other tools is in docs/import.md.',
  input: z.object({
    path: z.string().min(1).optional().describe("A file of task lines, or the other tool's folder or file"),
    from: z.enum(['beads', 'backlog-md', 'task-master']).optional().describe('The tool that made it'),
    ref: z.string().min(1).optional().describe('A commit or branch whose .forge/tasks.jsonl is read'),
    dry_run: z.boolean().optional().describe('Only show what would come'),
  }),
  output: z.object({
    source: z.string(),
    dry_run: z.boolean(),
    ...Counts,
    notes: z.array(z.object({ where: z.string(), field: z.string().optional(), what: z.string() })),
    tasks: z.array(z.object({ id: z.string(), title: z.string(), their_id: z.string() })),
  }),
  errors: ['not_found', 'io_failed', 'permission_denied', 'state_invalid'],
  access: 'task',
  needs: 'project',
  local: true,
  cli: {
    path: ['import'],
    args: ['path'],
    examples: [
      'forge import',
      'forge import ../other/tasks.jsonl --dry-run',
      'forge import --ref origin/main',
      'forge import --from beads ../old/.beads',
    ],
  },
});

export const collectGarbage = declare({
  name: 'sync.gc',
  summary: 'Rewrite the task files and the local replica with one line a task',
  about:
    'Safe at any time: the result means the same. Events of the feed that are older than 90 days are forgotten, which also happens by itself, and the database shrinks; changes of state stay in the history. Logs of ended runs, rescue refs that a person was shown, and worktrees of attempts that are over go where they are too old or too many: `forge doctor` shows the bounds. --prune also forgets removed labels, dependencies and metadata keys, and deleted tasks, that are older than so many days: a clone that was offline for longer may bring them back.',
  input: z.object({
    prune: z.int().min(1).max(36_500).optional().describe('Forget removals older than this many days'),
    events: z
      .int()
      .min(1)
      .max(36_500)
      .optional()
      .describe(`Forget events older than this many days (default: ${KEPT_LIMITS.event_days})`),
  }),
  output: z.object({
    tasks: ExportedFile,
    history: ExportedFile,
    replica: z.object({ before: z.int(), after: z.int() }),
    pruned: z.object({ removals: z.int(), deleted_tasks: z.int() }),
    events: z.object({ forgotten: z.int() }),
    database: z.object({ before: z.int(), after: z.int() }),
    /** What agents had left on this machine; null inside of a run, and while another process looks after it. */
    kept: z
      .object({
        run_logs: z.object({ gone: z.int(), bytes: z.int() }),
        rescues: z.array(z.object({ ref: z.string(), commit: z.string() })),
        worktrees: z.array(z.object({ attempt_id: z.string(), path: z.string() })),
      })
      .nullable(),
  }),
  errors: ['io_failed', 'disk_full', 'permission_denied', 'read_only'],
  access: 'task',
  needs: 'project',
  local: true,
  cli: {
    path: ['gc'],
    flags: { prune: { placeholder: 'days' }, events: { placeholder: 'days' } },
    examples: ['forge gc', 'forge gc --prune 90', 'forge gc --events 30'],
  },
});

export const commitTasks = declare({
  name: 'sync.commit',
  summary: 'Commit the task files, and nothing else',
  about:
    'Writes the files and commits them on the current branch (in branch mode: on the data branch) with an index of its own: what you have staged stays staged, and no hook runs.',
  input: z.object({
    message: z.string().min(1).max(10_000).optional().describe('The commit message'),
  }),
  output: z.object({
    commit: z.string().nullable(),
    changed: z.boolean(),
    branch: z.string().nullable(),
  }),
  errors: ['state_invalid', 'io_failed', 'version_conflict'],
  access: 'task',
  needs: 'project',
  local: true,
  cli: {
    path: ['commit'],
    flags: { message: { placeholder: 'text' } },
    examples: ['forge commit', 'forge commit --message "Plan the release"'],
  },
});

export const syncTasks = declare({
  name: 'sync.run',
  summary: 'Exchange tasks with the remote',
  about:
    'In branch mode: fetch, join, commit and push the data branch with tasks, config and workflow, again when another clone was faster. Otherwise: fetch and join in the tasks of every branch of the remote that this clone fetches; your files stay as they are, and your commits, `git pull` and `git push` carry the tasks on. A remote that cannot be reached is an error.',
  input: z.object({
    remote: z.string().min(1).optional().describe('Which remote (default: origin)'),
    offline: z.boolean().optional().describe('Do not talk to the remote'),
  }),
  output: z.object({
    mode: z.enum(['standard', 'stealth', 'branch']),
    fetched: z.boolean(),
    pushed: z.boolean(),
    reason: z.string().nullable(),
    created: z.int(),
    updated: z.int(),
    deleted: z.int(),
    changed: z.boolean(),
    /** Tasks whose checks, roles or status changed by what came in, with what of them did. */
    gates: z.array(z.object({ id: z.string(), what: z.array(z.string()) })),
    /** What became of the workflow in branch mode; `conflict`: both changed it, and this clone's stands. */
    workflow: z.enum(['same', 'sent', 'taken', 'conflict', 'broken_here', 'broken_there']),
    /** The version that does not stand, for `git show`. */
    other_workflow: z.string().nullable(),
    /** Keys of the config that both changed in branch mode: this clone's stand, `conflict.list` has the others. */
    config_lost: z.array(z.string()),
  }),
  errors: [
    'state_invalid',
    'io_failed',
    'version_conflict',
    'not_found',
    'server_unreachable',
    'permission_denied',
    'store_busy',
  ],
  access: 'task',
  needs: 'project',
  local: true,
  cli: { path: ['sync'], examples: ['forge sync', 'forge sync --offline'] },
});

export const runHook = declare({
  name: 'git.hook',
  summary: 'What the git hooks call; does nothing outside a project and never fails a commit',
  input: z.object({
    hook: z
      .enum(['pre-commit', 'post-merge', 'post-checkout', 'post-rewrite', 'post-index-change', 'pack-blobs'])
      .describe('pre-commit, post-merge, post-checkout, post-rewrite, post-index-change or pack-blobs'),
    args: z.array(z.string()).optional().describe("The hook's own arguments"),
  }),
  output: z.object({ messages: z.array(z.string()) }),
  errors: [],
  access: 'task',
  needs: 'nothing',
  local: true,
  cli: { path: ['hook'], args: ['hook', 'args'], examples: ['forge hook pre-commit'] },
});

export const mergeTaskFiles = declare({
  name: 'git.merge',
  summary: 'What git calls to merge two versions of a task file',
  input: z.object({
    base: z.string().describe('The file of the common ancestor (%O)'),
    ours: z.string().describe('Our file; the result is written to it (%A)'),
    theirs: z.string().describe('Their file (%B)'),
    path: z.string().optional().describe('Its name in the repository (%P)'),
  }),
  output: z.object({ lines: z.int(), conflicts: z.int() }),
  errors: ['io_failed', 'not_found'],
  access: 'task',
  needs: 'nothing',
  local: true,
  cli: {
    path: ['merge-driver'],
    args: ['base', 'ours', 'theirs', 'path'],
    examples: ['forge merge-driver %O %A %B %P'],
  },
});

const Conflict = z.object({
  id: z.string(),
  title: z.string(),
  /** A field's name, `metadata.<key>`, `life`, or `deleted`; `workflow`, or a key of the config; `more`, without an id, where a server has more. */
  name: z.string(),
  /** What git names the version that lost, of the workflow or the config. */
  key: z.string(),
  lost: z.unknown(),
  stands: z.unknown(),
  at: z.string(),
});

export const listConflicts = declare({
  name: 'conflict.list',
  summary: 'Show the values that lost a merge',
  about:
    'When two people change the same field without knowing of each other, the later change stands and the other one is kept here until somebody settles it. Of two claims the first stands. In branch mode the workflow and the config of the project are here too, by the ids `workflow` and `config`: `git show <key>` has the version that lost.',
  input: z.object({
    id: z.string().optional().describe('Only of this task (or `workflow`, `config`), with the whole values'),
  }),
  output: z.array(Conflict),
  errors: ['not_found', 'ambiguous_id'],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/conflicts' },
  cli: {
    path: ['conflicts'],
    args: ['id'],
    examples: ['forge conflicts', 'forge conflicts fg-a3f8'],
  },
});

export const resolveConflict = declare({
  name: 'conflict.resolve',
  summary: 'Settle values that lost a merge',
  about:
    'By default what stands stays. With --take-lost the value that lost is written again as a new change; a workflow is taken by `forge workflow set`, and a key of the config by changing it.',
  input: z.object({
    id: z.string().describe('Task id, or any unambiguous beginning of one; `workflow` or `config`'),
    field: z.string().optional().describe('Only this field (as `forge conflicts` shows it)'),
    take_lost: z.boolean().optional().describe('Put the lost value back'),
    fence: Fence,
  }),
  output: z.object({ id: z.string(), settled: z.array(z.string()), left: z.int() }),
  errors: ['not_found', 'ambiguous_id', 'state_invalid', 'fence_conflict', 'permission_denied'],
  access: 'task',
  needs: 'project',
  http: { method: 'post', path: '/tasks/{id}/conflicts' },
  cli: {
    path: ['resolve'],
    args: ['id'],
    examples: ['forge resolve fg-a3f8', 'forge resolve fg-a3f8 --field title --take-lost'],
  },
});

export const examineProject = declare({
  name: 'project.doctor',
  summary: 'Look for everything that can be wrong with this project, and mend it',
  about:
    'Looks at git, SQLite, the merge driver, the hooks, the database, clocks, cycles, references, unreadable lines, leftovers and permissions, and compares the tables and rows of the database with what they should be. --fix mends what can be mended without losing anything; it never deletes a task or an edge. --rebuild makes the database anew from the local replica, also where it is wrong or of a newer Forge; the old file is kept. --pr tells whether a server would find a conflict in the task files. The exit code is 1 where something is broken that was not mended, else 0; warnings do not count.',
  input: z.object({
    fix: z.boolean().optional().describe('Mend what can be mended'),
    rebuild: z
      .boolean()
      .optional()
      .describe('Set the task database aside and make it anew from the local replica'),
    force: z
      .boolean()
      .optional()
      .describe('With --fix: bring an older database up to date though an older server uses it'),
    pr: z.string().min(1).optional().describe('The branch that a pull request goes into'),
  }),
  output: z.object({
    healthy: z.boolean(),
    findings: z.array(
      z.object({
        name: z.string(),
        state: z.enum(['ok', 'fixed', 'warning', 'failed']),
        message: z.string(),
        hint: z.string().nullable(),
      }),
    ),
  }),
  errors: ['io_failed', 'permission_denied', 'state_invalid', 'store_busy'],
  access: 'admin',
  needs: 'project',
  local: true,
  cli: {
    path: ['doctor'],
    flags: { pr: { placeholder: 'base' } },
    examples: ['forge doctor', 'forge doctor --fix', 'forge doctor --pr origin/main'],
  },
});
