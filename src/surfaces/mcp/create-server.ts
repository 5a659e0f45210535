import { McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Declaration } from '#contract/declare.ts';
import { assert } from '#kernel/assert.ts';
import { toErrorBody } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { type Caller, reaches } from '#access/caller.ts';
import type { OperationCall, OperationCaller } from '#operations/call-operation.ts';
import { type PagedList, writePage } from '#operations/write-answer.ts';
import { registerPrompts } from './prompts.ts';
import { registerResources } from './resources.ts';
import { toTextResult, toToolResult } from './tool-result.ts';
import { createTools, readCall, type McpTool } from './tools.ts';

export interface McpDeps {
  readonly operations: OperationCaller;
  readonly declarations: readonly Declaration[];
  readonly version: string;
  /** Prefixes of the projects that are served now; where there are several, a call may have to say which it means. */
  readonly projects: () => readonly string[];
  /** Resolves when the answer of a read may be made; none where no other client asks the same process. */
  readonly reserve?: Reserve | undefined;
}

export type Reserve = (
  declaration: Declaration,
  call: { readonly caller: Caller; readonly signal?: AbortSignal | undefined },
) => Promise<Disposable | undefined>;

/** The library would promise to tell of changed lists, and no list is watched. */
const CAPABILITIES = {
  tools: { listChanged: false },
  resources: { listChanged: false },
  prompts: { listChanged: false },
};
const INSTRUCTIONS =
  'Forge is the task graph of this repository. Take work with forge_claim {"next": true}, read it with forge_show, say what you found with forge_comment, file what is left over with forge_create_task, and end with forge_close and a reason. Errors carry a code; claim_conflict means: take another one.';

/** Makes servers that each speak for one caller; the tools are worked out once for one project and once for several. */
export function createServerFactory(deps: McpDeps): (caller: Caller) => McpServer {
  const known = new Map<boolean, ReadonlyMap<string, McpTool>>();
  return (caller) => {
    const projects = deps.projects().filter((prefix) => reaches(caller, prefix));
    const severalProjects = projects.length > 1;
    const tools = known.get(severalProjects) ?? createTools(deps.declarations, { severalProjects });
    known.set(severalProjects, tools);
    return createServer(deps, { tools, projects }, caller);
  };
}

/** One server for one client and one request or session of it. */
function createServer(
  deps: McpDeps,
  { tools, projects }: { tools: ReadonlyMap<string, McpTool>; projects: readonly string[] },
  caller: Caller,
): McpServer {
  const mcp = new McpServer(
    { name: 'forge', title: 'Forge', version: deps.version },
    { instructions: INSTRUCTIONS, capabilities: CAPABILITIES },
  );
  // Under the library's own registry a wrong argument would be told in its words, and an alias would be listed.
  mcp.server.setRequestHandler('tools/list', () => ({ tools: listTools(tools) }));
  mcp.server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const tool = tools.get(params.name);
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No tool is called ${params.name}`);
    try {
      const { operation, input, project } = readCall(tool, params.arguments ?? {});
      const { signal } = mcpReq;
      const declaration = getDeclaration(deps, operation);
      using _reserved = await deps.reserve?.(declaration, { caller, signal });
      const ask = (asked: object, portion?: OperationCall['portion']): Promise<unknown> =>
        deps.operations.call({ name: operation, input: asked, caller, project, signal, portion });
      const { rows, sort } = readList(declaration, input);
      if (rows === undefined) return await toToolResult(await ask(input), hasHappened(tool));
      const most = { bytes: LIMITS.answer_page_bytes, beyond: 'refuse' } as const;
      const { body, shown } = await writePage({
        ask: (page, portion) => ask({ ...input, ...page }, portion),
        sort,
        rows,
        most,
      });
      return toTextResult(body, shown);
    } catch (error) {
      return { ...(await toToolResult({ error: toErrorBody(error) })), isError: true };
    }
  });
  registerResources(mcp, {
    projects,
    call: (name, input, more = {}) => deps.operations.call({ name, input, caller, ...more }),
    reserve: async (name) => deps.reserve?.(getDeclaration(deps, name), { caller }),
  });
  registerPrompts(mcp);
  return mcp;
}

function getDeclaration({ declarations }: McpDeps, name: string): Declaration {
  const declaration = declarations.find((one) => one.name === name);
  assert(declaration !== undefined, `The operation ${name} of a tool is declared`);
  return declaration;
}

export function listTools(tools: ReadonlyMap<string, McpTool>): ListedTool[] {
  return [...tools.values()].flatMap(({ name, listed, description, schema, annotations }) =>
    listed ? [{ name, description, inputSchema: { ...schema }, annotations: { ...annotations } }] : [],
  );
}

interface ListedTool {
  name: string;
  description: string;
  inputSchema: { type: 'object' } & Record<string, unknown>;
  annotations: Record<string, boolean>;
}

/** How a list is asked for that can be read in portions; nothing for any other answer, and for what is no limit. */
function readList(
  { input: { shape } }: Declaration,
  { limit = LIMITS.list_limit, sort }: Readonly<Record<string, unknown>>,
): { readonly rows?: number; readonly sort?: PagedList['sort'] } {
  const sound = typeof limit === 'number' && Number.isInteger(limit) && limit >= 1;
  if (!('cursor' in shape) || !sound || limit > LIMITS.list_limit) return {};
  // The schema takes the order with the first portion.
  return { rows: limit, sort: sort as PagedList['sort'] };
}

/** What has happened is told, however long it is. */
function hasHappened({ annotations }: McpTool): boolean {
  return annotations['readOnlyHint'] !== true;
}
