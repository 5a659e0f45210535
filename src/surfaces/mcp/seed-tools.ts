import type { Declaration } from '#contract/declare.ts';
import { ForgeError } from '#kernel/errors.ts';
import { toAnnotations } from './annotations.ts';
import type { McpTool } from './tools.ts';

interface SeedTool {
  /** The operation that it calls. */
  readonly operation: string;
  readonly toTool: (declaration: Declaration | undefined) => McpTool;
}

const TEXT = { type: 'string' } as const;

/** Names and arguments that earlier systems of this kind taught people's prompts; each as short as it can be. */
export const SEED_TOOLS: readonly SeedTool[] = [
  calling('task.create', {
    name: 'create_task',
    description: 'Same as forge_create_task',
    takes: { title: 'title', description: 'description' },
    required: ['title'],
  }),
  calling('task.update', {
    name: 'update_task',
    description: 'Same as forge_update, and moves it by its status: todo, in-progress or complete',
    takes: { task_id: 'id', id: 'id', title: 'title', description: 'description', status: 'status' },
    required: [],
    listed: false,
  }),
  calling('task.claim', {
    name: 'forge_assign_agent',
    description:
      'Claim a task for an agent, by the rules of forge_claim; it does not take a task from anybody',
    takes: { task_id: 'id', agent_id: 'agent_id' },
    required: ['task_id', 'agent_id'],
  }),
  calling('attempt.start', {
    name: 'start_task_attempt',
    description: 'Claim a task for an agent that Forge starts, by its name or executor; gives attempt_id',
    takes: { task_id: 'id', executor: 'agent' },
    required: ['task_id', 'executor'],
  }),
];

function calling(
  operation: string,
  tool: {
    readonly name: string;
    readonly description: string;
    /** Names in a call → fields of the operation. */
    readonly takes: Readonly<Record<string, string>>;
    readonly required: readonly string[];
    readonly listed?: boolean;
  },
): SeedTool {
  const { name, description, takes, required, listed = true } = tool;
  return {
    operation,
    toTool(declaration) {
      const stranger = Object.values(takes).find((field) => declaration?.input.shape[field] === undefined);
      if (stranger !== undefined)
        throw new ForgeError('internal', `${name}: ${operation} has no field ${stranger}`);
      return {
        name,
        operation,
        listed,
        description,
        schema: toSchema(Object.keys(takes), required),
        annotations: toAnnotations(operation, 'task'),
        takes: new Map(Object.entries(takes)),
      };
    },
  };
}

function toSchema(fields: readonly string[], required: readonly string[]): McpTool['schema'] {
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field, TEXT])),
    required: [...required],
    additionalProperties: false,
  };
}
