import type { Declaration } from '#contract/declare.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { toAnnotations, type ToolAnnotations } from './annotations.ts';
import { SEED_TOOLS } from './seed-tools.ts';
import { PROJECT_FIELD, type ToolSchema, toToolSchema } from './tool-schema.ts';

/** One name that a host may call. */
export interface McpTool {
  readonly name: string;
  /** `task.claim` */
  readonly operation: string;
  readonly listed: boolean;
  readonly description: string;
  readonly schema: ToolSchema;
  readonly annotations: ToolAnnotations;
  /** Names in a call → fields of the operation. Anything else is refused by name. */
  readonly takes: ReadonlyMap<string, string>;
}

/**
 * Every tool, from the declarations that have `mcp` hints. An operation is listed once, under its main name; second
 * names answer too but are not listed, because a host shows its model whatever is listed, and pays for it in every
 * conversation. Of the names of the seeds only some whose arguments differ are listed besides.
 */
export function createTools(
  declarations: readonly Declaration[],
  { severalProjects }: { severalProjects: boolean },
): ReadonlyMap<string, McpTool> {
  const tools = new Map<string, McpTool>();
  const add = (tool: McpTool): void => {
    if (tools.has(tool.name)) throw new ForgeError('internal', `Two tools are called ${tool.name}`);
    tools.set(tool.name, tool);
  };
  for (const declaration of declarations) {
    if (declaration.mcp === undefined) continue;
    const main = toTool(declaration, declaration.mcp.tool, severalProjects);
    add(main);
    for (const name of declaration.mcp.aliases ?? []) add({ ...main, name, listed: false });
  }
  for (const seed of SEED_TOOLS) {
    const declaration = declarations.find(({ name }) => name === seed.operation);
    add(seed.toTool(declaration));
  }
  return tools;
}

function toTool(declaration: Declaration, name: string, severalProjects: boolean): McpTool {
  const { input, mcp, access } = declaration;
  const fields = mcp?.fields ?? Object.keys(input.shape);
  const stranger = fields.find((field) => input.shape[field] === undefined);
  if (stranger !== undefined)
    throw new ForgeError(
      'internal',
      `${declaration.name}: the mcp hints name ${stranger}, which is no field`,
    );
  const schema = toToolSchema(input, fields);
  // A task's id says which project is meant; without one somebody has to.
  const asks = severalProjects && !(schema.required ?? []).some((field) => /(^|_)id$/.test(field));
  return {
    name,
    operation: declaration.name,
    listed: true,
    description: mcp?.description ?? declaration.summary,
    schema: asks ? { ...schema, properties: { ...schema.properties, project: PROJECT_FIELD } } : schema,
    annotations: toAnnotations(declaration.name, access),
    takes: toNames(declaration, fields),
  };
}

/** The seeds say `task_id` for `id`, and what HTTP takes under another name is taken here too. */
function toNames({ input, http }: Declaration, fields: readonly string[]): ReadonlyMap<string, string> {
  const names = new Map(fields.map((field) => [field, field]));
  const others = { ...http?.aliases, ...(input.shape['task_id'] === undefined && { task_id: 'id' }) };
  for (const [name, field] of Object.entries(others))
    if (fields.includes(field) && !names.has(name)) names.set(name, field);
  return names;
}

/** What a call means. Throws invalid_input for names that the tool does not offer. */
export function readCall(
  tool: McpTool,
  given: Readonly<Record<string, unknown>>,
): { readonly operation: string; readonly input: Record<string, unknown>; readonly project?: string } {
  const { project, ...rest } = given;
  const issues: { field: string; message: string }[] = [];
  const input: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  let more = 0;
  const add = (name: string, message: string): void => {
    if (issues.length < LIMITS.error_names) issues.push({ field: name.slice(0, 100), message });
    else more += 1;
  };
  for (const [name, value] of Object.entries(rest)) {
    const field = tool.takes.get(name);
    if (field === undefined) add(name, `${tool.name} has no such field`);
    else if (Object.hasOwn(input, field)) add(name, `${field} is given twice`);
    else input[field] = value;
  }
  if (project !== undefined && (typeof project !== 'string' || project === ''))
    issues.push({ field: 'project', message: "a project's prefix or name" });
  if (issues.length > 0) {
    const known = [...tool.takes.keys()].join(', ');
    const told = issues.map(({ field, message }) => `${field}: ${message}`);
    throw new ForgeError('invalid_input', [...told, ...(more > 0 ? [`… and ${more} more`] : [])].join('; '), {
      hint: `${tool.name} takes ${known}`,
      details: { issues },
    });
  }
  return {
    operation: tool.operation,
    input: { ...input },
    ...(typeof project === 'string' && { project }),
  };
}
