import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { declare } from './declare.ts';
import { Status, TaskRef } from './task.ts';

/** One line, not blank, as in a project's config. */
const Name = z
  .string()
  .max(LIMITS.project_name_length)
  .regex(/^(?!\s*$)[^\u0000-\u001f\u007f]*$/, 'a name is one line and not blank');
const ProjectEntry = z.object({
  name: z.string(),
  prefix: z.string(),
  path: z.string(),
  added_at: z.string(),
});
const outcome = z.enum(['added', 'updated', 'unchanged']);

export const addProject = declare({
  name: 'project.add',
  summary: 'Register a project in the Forge home, so that its ids mean something everywhere',
  about:
    'With the project registered, any command takes its ids from any folder, tasks of other projects can depend on its tasks, and batches find them. Each registered project needs a prefix of its own. Doing it again changes nothing; after a change of name or prefix it takes the new ones over. A first argument that is a path (`.`, `../b`, `/code/b`) is the path.',
  input: z.object({
    name: Name.optional().describe('What to call it here (default: the name in its config)'),
    path: z.string().min(1).optional().describe('A folder of the project (default: this one)'),
  }),
  output: ProjectEntry.extend({ outcome }),
  errors: ['already_exists', 'not_a_project', 'not_a_repository', 'schema_newer', 'store_busy'],
  access: 'admin',
  needs: 'nothing',
  local: true,
  cli: {
    path: ['project', 'add'],
    args: ['name', 'path'],
    examples: ['forge project add', 'forge project add backend ../backend', 'forge project add ../backend'],
  },
});

export const setSetting = declare({
  name: 'settings.set',
  summary: 'Change one of your own settings: caps, prices, how work is done',
  about:
    'Writes `settings.json` of the Forge home, which holds for all projects of this machine and comes before what a repository says. The value is JSON, or else a word; `null` takes the setting away. A price is set by the name of its model.',
  input: z.object({
    key: z.string().min(1).max(LIMITS.setting_key_length).describe('The section and the name: caps.task_usd'),
    value: z.string().max(LIMITS.setting_value_length).describe('What it is from now on, or null'),
  }),
  output: z.object({ key: z.string(), value: z.unknown(), path: z.string() }),
  errors: ['store_busy'],
  access: 'admin',
  needs: 'nothing',
  local: true,
  cli: {
    path: ['settings', 'set'],
    args: ['key', 'value'],
    examples: [
      'forge settings set caps.task_usd 5',
      'forge settings set scheduler.budget_usd null',
      `forge settings set prices.my-model '{"input": 1, "cached": 0.1, "output": 5}'`,
    ],
  },
});

export const listSettings = declare({
  name: 'settings.list',
  summary: 'List your own settings, and with --all what can be set',
  about:
    'What `settings.json` of the Forge home says. A setting that is named is answered also where it is not set (null).',
  input: z.object({
    key: z
      .string()
      .min(1)
      .max(LIMITS.setting_key_length)
      .optional()
      .describe('One setting (caps.task_usd), or a section (caps)'),
    all: z.boolean().optional().describe('Also those that are not set'),
  }),
  output: z.array(z.object({ key: z.string(), value: z.unknown() })),
  errors: [],
  access: 'read',
  needs: 'nothing',
  local: true,
  cli: {
    path: ['settings', 'list'],
    args: ['key'],
    examples: [
      'forge settings list',
      'forge settings list caps --all',
      'forge settings list caps.task_usd --json',
    ],
  },
});

export const listProjects = declare({
  name: 'project.list',
  summary: 'List the registered projects',
  input: z.object({}),
  output: z.array(
    ProjectEntry.extend({
      there: z.boolean(),
      problem: z.string().nullable(),
      open: z.int().nullable(),
      in_progress: z.int().nullable(),
      ready: z.int().nullable(),
      /** Since when agents claim nothing there; null while they may, and where it cannot be read. */
      paused_at: z.string().nullable(),
    }),
  ),
  errors: ['schema_newer'],
  access: 'read',
  needs: 'nothing',
  cli: { path: ['project', 'list'], examples: ['forge project list', 'forge project list --json'] },
});

export const removeProject = declare({
  name: 'project.remove',
  summary: 'Take a project off the register; the project itself is not touched',
  about:
    'Tasks elsewhere that depend on its tasks stay as they are now: what was open keeps blocking until the project is registered again or the dependency is removed.',
  input: z.object({ name: Name.describe('As `forge project list` shows it') }),
  output: ProjectEntry,
  errors: ['not_found', 'schema_newer', 'store_busy'],
  access: 'admin',
  needs: 'nothing',
  http: { method: 'delete', path: '/projects/{name}' },
  cli: { path: ['project', 'remove'], args: ['name'], examples: ['forge project remove backend'] },
});

const BatchEntry = z.object({
  name: z.string(),
  created_at: z.string(),
  closed_at: z.string().nullable(),
});
const BatchTask = z.object({ id: z.string(), project: z.string(), path: z.string() });
const batchName = Name.describe('Name of the batch');
const Counts = z.object({
  total: z.int(),
  open: z.int(),
  in_progress: z.int(),
  closed: z.int(),
  missing: z.int(),
});

export const createBatch = declare({
  name: 'batch.create',
  summary: 'Start a batch: tasks of one or more projects that are followed together',
  about:
    'Ids may be those of any registered project, and of the project around, registered or not. Short ids mean tasks of the project around.',
  input: z.object({
    name: batchName,
    ids: z.array(TaskRef).max(LIMITS.batch_tasks).optional().describe('Tasks to begin with'),
  }),
  output: BatchEntry.extend({ tasks: z.array(BatchTask) }),
  errors: ['already_exists', 'not_found', 'ambiguous_id', 'state_invalid', 'not_a_project', 'store_busy'],
  access: 'task',
  needs: 'nothing',
  http: { method: 'post', path: '/batches', ok: 201 },
  cli: {
    path: ['batch', 'create'],
    args: ['name', 'ids'],
    examples: ['forge batch create release-2', 'forge batch create login fg-a3f8 fg-b2c1 pb-x1y2'],
  },
});

export const addToBatch = declare({
  name: 'batch.add',
  summary: 'Add tasks to a batch',
  input: z.object({
    name: batchName,
    ids: z.array(TaskRef).max(LIMITS.batch_tasks).describe('Tasks to add'),
  }),
  output: BatchEntry.extend({ tasks: z.array(BatchTask), added: z.array(z.string()) }),
  errors: ['not_found', 'ambiguous_id', 'state_invalid', 'not_a_project', 'store_busy'],
  access: 'task',
  needs: 'nothing',
  http: { method: 'post', path: '/batches/{name}/tasks' },
  cli: {
    path: ['batch', 'add'],
    args: ['name', 'ids'],
    examples: ['forge batch add release-2 fg-a3f8', 'forge batch add release-2 c9d1 pb-x1y2'],
  },
});

export const showBatch = declare({
  name: 'batch.show',
  summary: 'Show the tasks of a batch and how far they are',
  about:
    'It is done when every task is closed. Tasks and projects that are not there any more are shown as missing and keep it from being done.',
  input: z.object({ name: batchName }),
  output: BatchEntry.extend({
    done: z.boolean(),
    counts: Counts,
    tasks: z.array(
      BatchTask.extend({
        title: z.string().nullable(),
        status: Status.nullable(),
        assignee: z.string().nullable(),
        problem: z.string().nullable(),
      }),
    ),
  }),
  errors: ['not_found'],
  access: 'read',
  needs: 'nothing',
  http: { method: 'get', path: '/batches/{name}' },
  cli: { path: ['batch', 'show'], args: ['name'], examples: ['forge batch show release-2'] },
});

export const listBatches = declare({
  name: 'batch.list',
  summary: 'List the batches, with how many of their tasks are closed',
  input: z.object({ all: z.boolean().optional().describe('Closed batches too') }),
  output: z.array(BatchEntry.extend({ done: z.boolean(), counts: Counts })),
  errors: [],
  access: 'read',
  needs: 'nothing',
  http: { method: 'get', path: '/batches' },
  cli: { path: ['batch', 'list'], examples: ['forge batch list', 'forge batch list --all --json'] },
});

export const closeBatch = declare({
  name: 'batch.close',
  summary: 'Stop following a batch; its tasks are not touched',
  input: z.object({ name: batchName }),
  output: BatchEntry.extend({ tasks: z.array(BatchTask) }),
  errors: ['not_found', 'store_busy'],
  access: 'task',
  needs: 'nothing',
  http: { method: 'post', path: '/batches/{name}/close' },
  cli: { path: ['batch', 'close'], args: ['name'], examples: ['forge batch close release-2'] },
});
