import * as z from 'zod';
import { declare } from './declare.ts';
import { Priority, TaskType } from './task.ts';

/** A task in a few words; the title may be cut. */
const Glance = z.object({ id: z.string(), priority: Priority, type: TaskType, title: z.string() });

export const primeAgent = declare({
  name: 'project.prime',
  summary: 'Print what an agent must know at the start of a session',
  about:
    'Who you are, your open work, what is ready, the commands and the rules, as Markdown of less than 1,000 tokens: long titles and lists are cut. Nothing is changed.',
  input: z.object({}),
  output: z.object({
    project: z.object({ name: z.string(), id_prefix: z.string() }),
    actor: z.object({ name: z.string(), kind: z.enum(['user', 'agent', 'system']), named: z.boolean() }),
    mine: z.array(Glance),
    ready: z.array(Glance.extend({ reserved: z.boolean() })),
    counts: z.object({
      mine: z.int(),
      reserved: z.int(),
      ready: z.int(),
      blocked: z.int(),
      parked: z.int(),
      open: z.int(),
      in_progress: z.int(),
      closed: z.int(),
    }),
    commands: z.array(z.object({ command: z.string(), use: z.string() })),
  }),
  errors: [],
  access: 'read',
  needs: 'project',
  cli: {
    path: ['prime'],
    examples: ['forge prime', 'FORGE_ACTOR=worker-1 forge prime', 'forge prime --json --fields mine,ready'],
  },
});

export const onboardAgents = declare({
  name: 'project.onboard',
  summary: 'Tell coding agents about Forge in AGENTS.md and CLAUDE.md',
  about:
    'Writes or updates one marked block in AGENTS.md, which is made where there is none, and in CLAUDE.md where there is one. The rest of the files stays as it is.',
  input: z.object({
    check: z
      .boolean()
      .optional()
      .describe('Change nothing; fail when a block is missing or old (for a CI step)'),
    undo: z.boolean().optional().describe('Remove the blocks, and AGENTS.md where nothing else is in it'),
    dry_run: z.boolean().optional().describe('Only show what would be done'),
  }),
  output: z.object({
    files: z.array(
      z.object({
        path: z.string(),
        change: z.enum(['create', 'add', 'update', 'remove', 'delete', 'none']),
      }),
    ),
    dry_run: z.boolean(),
    block: z.string(),
  }),
  errors: ['state_invalid', 'version_conflict', 'permission_denied'],
  access: 'admin',
  needs: 'project',
  local: true,
  cli: {
    path: ['onboard'],
    examples: ['forge onboard', 'forge onboard --dry-run', 'forge onboard --undo'],
  },
});
