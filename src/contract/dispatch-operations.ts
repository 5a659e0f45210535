import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { declare } from './declare.ts';
import { WorkedTask } from './run-task-operations.ts';
import { Identity } from './task.ts';

export const dispatchTasks = declare({
  name: 'dispatch',
  summary: 'Let agents work on whatever is ready, by priority',
  about:
    'Ready tasks go to the agents that Forge can start and that have a free place, each in a worktree of its own, to the end of their review; with --merge what passed is merged. A task whose planner is such an agent is planned first. What failed is tried again after a while, longer each time; an agent that cannot work (not logged in, not installed, a usage limit, no network) is suspended, and tried again later each time, while others take its tasks. How many work at once, and what a day may cost, stands in the settings under "scheduler". What an earlier Forge left when it was killed is taken up. It goes on until Ctrl-C, or with --until-empty until nothing is ready and nothing is at work, or what is ready waits for agents that only a person can help; exit 0 only if every task it took got there.',
  input: z.object({
    max: z.int().min(1).max(LIMITS.scheduler_max).optional().describe('At most so many tasks at once'),
    agents: z
      .array(Identity)
      .max(LIMITS.scheduler_max)
      .optional()
      .describe('Only this agent; repeats (default: all that Forge can start)'),
    until_empty: z.boolean().optional().describe('End when nothing is ready and nothing is at work'),
    merge: z.boolean().optional().describe('Merge what passed its review'),
  }),
  output: z.array(WorkedTask),
  errors: ['not_found', 'permission_denied', 'untrusted'],
  access: 'exec',
  needs: 'project',
  local: true,
  cli: {
    path: ['dispatch'],
    flags: { agents: { flag: 'agent', placeholder: 'name' } },
    examples: [
      'forge dispatch --until-empty',
      'forge dispatch --max 4 --agent worker-1 --agent worker-2 --merge --until-empty --json',
    ],
  },
});
