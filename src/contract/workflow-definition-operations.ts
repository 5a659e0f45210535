import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { declare } from './declare.ts';
import { Metadata } from './task.ts';
import { WorkflowState } from './workflow.ts';

/** The text of a file, or the same as JSON where a request can hold that. */
const Definition = z.union([z.string().max(LIMITS.workflow_bytes), z.record(z.string(), z.unknown())]);

const Source = z.enum(['default', 'file', 'shared']);

export const showWorkflow = declare({
  name: 'workflow.show',
  summary: 'Show the states of the workflow, their edges and what happens in them',
  about:
    'The workflow is .forge/workflow.json; without it, or where it is empty or {}, the built-in one. The format is in docs/workflow.md; the last example prints a definition to begin from.',
  input: z.object({}),
  output: z.object({
    /** default: built in; file: of this working tree; shared: of another branch or worktree of this clone. */
    source: Source,
    path: z.string().nullable(),
    /** Another one whenever the text is another. */
    digest: z.string(),
    roles: z.array(z.string()),
    states: z.array(WorkflowState),
    /** Where tasks begin. */
    initial: z.string(),
    cancellation_state: z.string(),
    blocked_state: z.string().optional(),
    status_states: z.object({ in_progress: z.string(), closed: z.string() }),
  }),
  errors: ['invalid_input', 'io_failed', 'permission_denied'],
  access: 'read',
  needs: 'project',
  cli: {
    path: ['workflow', 'show'],
    examples: [
      'forge workflow show',
      'forge workflow show --json --fields roles,states,cancellation_state,blocked_state,status_states',
    ],
  },
  http: { method: 'get', path: '/projects/{project}/workflow' },
});

export const validateWorkflowFile = declare({
  name: 'workflow.validate',
  summary: 'Check a workflow and name all its faults',
  about:
    'Without a file: the workflow of the project around. Every fault is named at once, with its line. Exit 2 means that there are faults; with --json they are in error.details.faults.',
  input: z.object({
    definition: Definition.optional().describe('The file to check, "-" for standard input'),
  }),
  output: z.object({
    valid: z.literal(true),
    /** What was checked: `given`, or where the project's workflow is from. */
    source: z.union([z.literal('given'), Source]),
    path: z.string().nullable(),
    states: z.int(),
    roles: z.int(),
  }),
  errors: ['invalid_input', 'not_a_project', 'io_failed', 'permission_denied'],
  access: 'read',
  needs: 'nothing',
  cli: {
    path: ['workflow', 'validate'],
    args: ['definition'],
    flags: { definition: { file_argument: true } },
    examples: ['forge workflow validate', 'forge workflow validate draft.json'],
  },
  http: { method: 'post', path: '/workflow/validate', aliases: { workflow_definition: 'definition' } },
});

export const setWorkflow = declare({
  name: 'workflow.set',
  summary: "Replace the project's workflow",
  about:
    'The workflow is checked first, and takes effect with the next command. It is written to .forge/workflow.json, which travels with git. Where tasks stand in states that it does not have, it is refused with their numbers, and says what to type: --map old=new moves them, all in one step and with a row in their log; --force takes it all the same, and each such task then stands where its status says.',
  input: z.object({
    definition: Definition.optional().describe('The file that holds it, "-" for standard input'),
    default: z.boolean().optional().describe('Back to the built-in workflow'),
    /** Checked by the operation, because a command line can only say records. */
    map: Metadata.optional().describe('Where the tasks of a state go that it does not have; repeats'),
    force: z.boolean().optional().describe('Also where tasks stand in states that it does not have'),
  }),
  output: z.object({
    source: Source,
    path: z.string().nullable(),
    digest: z.string(),
    changed: z.boolean(),
    states: z.int(),
    /** What --map did. */
    mapped: z.array(z.object({ from: z.string(), to: z.string(), tasks: z.int() })),
    /** States that the workflow does not have, and how many tasks stand there. */
    stranded: z.array(z.object({ state: z.string(), tasks: z.int() })),
  }),
  errors: ['invalid_input', 'state_invalid', 'io_failed', 'disk_full', 'permission_denied', 'read_only'],
  access: 'admin',
  needs: 'project',
  cli: {
    path: ['workflow', 'set'],
    args: ['definition'],
    flags: { definition: { file_argument: true }, map: { placeholder: 'old=new' } },
    examples: [
      'forge workflow set draft.json',
      'forge workflow set draft.json --map review=in_progress',
      'forge workflow set --default',
    ],
  },
  http: {
    method: 'put',
    path: '/projects/{project}/workflow',
    aliases: { workflow_definition: 'definition' },
  },
});

export const drawWorkflow = declare({
  name: 'workflow.graph',
  summary: 'Draw the workflow as text, Mermaid or DOT',
  about:
    'Drawn edges only; cancelling, blocking and closing are possible from every state that is not terminal, and are told in one line. Dashed edges are taken by themselves.',
  input: z.object({
    format: z.enum(['text', 'mermaid', 'dot']).optional().describe('text (default), mermaid or dot'),
  }),
  output: z.object({ format: z.string(), text: z.string() }),
  errors: ['invalid_input', 'io_failed', 'permission_denied'],
  access: 'read',
  needs: 'project',
  cli: {
    path: ['workflow', 'graph'],
    examples: ['forge workflow graph', 'forge workflow graph --format dot | dot -Tsvg > workflow.svg'],
  },
  http: { method: 'get', path: '/projects/{project}/workflow/graph' },
});
