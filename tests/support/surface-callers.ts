import { openContext } from '#app/open-context.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import type { OperationEntry } from '#operations/flag-table.ts';
import { MANIFEST } from '#operations/manifest.generated.ts';
import { runCli } from '#surfaces/cli/run-cli.ts';
import type { ProjectHttp } from './http-server.ts';

/** One operation by one surface: the JSON that comes back, an error as `{ error }`. */
export type SurfaceCall = (name: string, input: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** `ann` by every surface; the server's token says so too. */
const ACTOR = 'user:ann';

/** The same by somebody who calls itself an agent; an error is the answer. */
export function callAsAgentByCli(http: ProjectHttp, agent: string): SurfaceCall {
  const call = callByCli(http, `agent:${agent}`);
  return async (name, input) => {
    const answer = (await call(name, input)) as { error?: unknown };
    return answer.error ?? answer;
  };
}

/** The command line in this process: argv in, standard output out. Null: nobody says who asks. */
export function callByCli(http: ProjectHttp, actor: string | null = ACTOR): SurfaceCall {
  return async (name, input) => {
    const entry = getEntry(name);
    let stdout = '';
    const io = {
      stdout: async (text: string) => void (stdout += text),
      stderr: async (text: string) => {
        throw new Error(`${name}: ${text}`);
      },
      stdin: async () => Buffer.from(''),
      ask: () => Promise.reject(new Error('asked without a terminal')),
      env: {},
      isTerminal: { stdin: false, stdout: false, stderr: false },
      columns: undefined,
      cwd: http.root,
      rawArgv: () => undefined,
    };
    const who = actor === null ? [] : ['--actor', actor];
    await runCli(['--json', ...who, ...toArgv(entry, input)], io, {
      table: FLAG_TABLE,
      version: '0.0.0-test',
      loadOperation: async (wanted) => {
        const load = MANIFEST[wanted];
        if (load === undefined) throw new Error(`no operation ${wanted}`);
        return load();
      },
      openContext: ({ operation, globals, input: given }) =>
        openContext({
          needs: operation.needs,
          route: operation.route === undefined ? undefined : (given[operation.route] as string | undefined),
          cwd: http.root,
          env: http.env,
          actor: globals.actor,
          progress: () => undefined,
          notice: () => undefined,
          meter: () => undefined,
        }),
    });
    return JSON.parse(stdout) as unknown;
  };
}

export function callByHttp(http: ProjectHttp): SurfaceCall {
  return async (name, input) => {
    const path = `/api/v1/operations/${name}`;
    const { status, json } = await http.ask({ method: 'POST', path, token: http.admin, body: input });
    if (status < 300) return json;
    const { request_id: _request, ...error } = json as Record<string, unknown>;
    return { error };
  };
}

/** Undefined where no tool offers the operation with these fields. */
export function callByMcp(
  http: ProjectHttp,
): (...call: Parameters<SurfaceCall>) => Promise<unknown> | undefined {
  return (name, input) => {
    const declaration = OPERATIONS.find((one) => one.name === name);
    const fields = declaration?.mcp?.fields ?? Object.keys(declaration?.input.shape ?? {});
    if (declaration?.mcp === undefined || !Object.keys(input).every((field) => fields.includes(field)))
      return undefined;
    return callTool(http, { tool: declaration.mcp.tool, input });
  };
}

/** A tool by its own name, for whoever has the token. */
export async function callTool(
  http: ProjectHttp,
  { tool, input, token = http.admin }: { tool: string; input: object; token?: string },
): Promise<unknown> {
  const { json } = await http.ask({
    method: 'POST',
    path: '/mcp',
    token,
    headers: { accept: 'application/json, text/event-stream' },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: input } },
  });
  const { result } = json as { result: { content: { text: string }[] } };
  return JSON.parse(result.content[0]?.text ?? '') as unknown;
}

function getEntry(name: string): OperationEntry {
  const entry = FLAG_TABLE.entries[name]?.();
  if (entry === undefined) throw new Error(`no command for ${name}`);
  return entry;
}

/** The input as somebody would type it. */
function toArgv(entry: OperationEntry, input: Readonly<Record<string, unknown>>): string[] {
  const args = entry.args.flatMap((field) => [input[field] ?? []].flat().map(String));
  const isWhole = (field: string): boolean =>
    Object.values(entry.fields).some(({ part_of }) => part_of === field);
  const flat = Object.entries(input).flatMap(([field, value]) =>
    isWhole(field) ? Object.entries<unknown>({ ...(value as object) }) : [[field, value] as const],
  );
  const flags = flat.flatMap(([field, value]) => {
    const rule = entry.fields[field];
    if (rule?.flag === undefined || entry.args.includes(field)) return [];
    if (rule.kind === 'boolean') return value === true ? [`--${rule.flag}`] : [];
    if (rule.kind === 'assignments')
      return Object.entries(value as object).map(
        ([key, one]) => `--${rule.flag}=${key}=${JSON.stringify(one)}`,
      );
    if (Array.isArray(value)) return value.map((one) => `--${rule.flag}=${String(one)}`);
    return [`--${rule.flag}=${value === null ? 'none' : String(value as string | number)}`];
  });
  return [...entry.path, ...flags, '--', ...args];
}
