import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

/**
 * A holder of a claim that is stopped in the middle of its work, and goes on when its claim is somebody else's: claims a
 * task, stops itself, and writes with the number of its claim on every surface when it is woken. Prints one line of
 * JSON after the claim and one at the end.
 */

export const SURFACES = ['rest', 'operation', 'mcp', 'mcp stdio', 'cli', 'cli --server'] as const;
export type Surface = (typeof SURFACES)[number];

/** What a zombie is told. */
export interface ZombieOrders {
  readonly forge: string;
  readonly cwd: string;
  readonly url: string;
  readonly token: string;
  readonly actor: string;
  readonly task: string;
  readonly other: string;
  readonly lease: number;
  /** Of each surface. */
  readonly writes: number;
}

/** How each write was answered: `accepted`, or the code of the error. */
export type ZombieReport = Readonly<Record<Surface, readonly string[]>>;

interface Write {
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly route: readonly [method: string, path: string];
  readonly tool: string | undefined;
  readonly argv: readonly string[];
}

function listWrites({ task, other }: ZombieOrders, fence: number, n: number): readonly Write[] {
  const id = { id: task, fence };
  const edge = { from_id: task, to_id: other, fence };
  const flag = ['--fence', String(fence)];
  const say = `zombie ${n}`;
  return [
    {
      operation: 'task.comment',
      input: { ...id, body: say },
      route: ['POST', `/tasks/${task}/comments`],
      tool: 'forge_comment',
      argv: ['task', 'comment', task, say, ...flag],
    },
    {
      operation: 'task.update',
      input: { ...id, title: say },
      route: ['PATCH', `/tasks/${task}`],
      tool: 'forge_update',
      argv: ['task', 'update', task, '--title', say, ...flag],
    },
    {
      operation: 'task.close',
      input: { ...id, reason: say },
      route: ['POST', `/tasks/${task}/close`],
      tool: 'forge_close',
      argv: ['task', 'close', task, '--reason', say, ...flag],
    },
    {
      operation: 'task.transition',
      input: { ...id, state: 'blocked', reason: say },
      route: ['POST', `/tasks/${task}/transition`],
      tool: 'forge_transition',
      argv: ['task', 'transition', task, 'blocked', '--reason', say, ...flag],
    },
    {
      operation: 'task.cancel',
      input: { ...id, reason: say },
      route: ['POST', `/tasks/${task}/cancel`],
      tool: 'forge_cancel',
      argv: ['task', 'cancel', task, '--reason', say, ...flag],
    },
    {
      operation: 'dep.add',
      input: edge,
      route: ['POST', `/tasks/${task}/dependencies`],
      tool: 'forge_depend',
      argv: ['dep', 'add', task, other, ...flag],
    },
    {
      operation: 'task.release',
      input: { ...id, reason: say },
      route: ['POST', `/tasks/${task}/release`],
      tool: 'forge_release',
      argv: ['task', 'release', task, '--reason', say, ...flag],
    },
    {
      operation: 'task.claim',
      input: id,
      route: ['POST', `/tasks/${task}/claim`],
      tool: 'forge_claim',
      argv: ['claim', task, ...flag],
    },
    {
      operation: 'task.heartbeat',
      input: id,
      route: ['POST', `/tasks/${task}/heartbeat`],
      tool: undefined,
      argv: ['task', 'heartbeat', task, ...flag],
    },
    {
      operation: 'task.archive',
      input: id,
      route: ['POST', `/tasks/${task}/archive`],
      tool: undefined,
      argv: ['task', 'archive', task, ...flag],
    },
    {
      operation: 'task.delete',
      input: id,
      route: ['DELETE', `/tasks/${task}?fence=${fence}`],
      tool: undefined,
      argv: ['task', 'delete', task, ...flag],
    },
  ];
}

if (process.argv[2] !== undefined) await haunt(JSON.parse(process.argv[2]) as ZombieOrders);

async function haunt(orders: ZombieOrders): Promise<void> {
  const { task, lease, actor: assignee } = orders;
  const claimed = (await ask(orders, 'POST', `/tasks/${task}/claim`, { assignee, lease })) as {
    fence: number;
  };
  tell(claimed);
  process.kill(process.pid, 'SIGSTOP');
  // From here on by whoever has woken it. The signal reaches the process between two turns of its loop.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const report: Record<string, string[]> = {};
  for (const surface of SURFACES) report[surface] = await writeAll(orders, claimed.fence, surface);
  tell(report);
}

function tell(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

async function writeAll(orders: ZombieOrders, fence: number, surface: Surface): Promise<string[]> {
  await using stdio = surface === 'mcp stdio' ? await openStdio(orders) : undefined;
  const answers: string[] = [];
  for (let n = 0; answers.length < orders.writes; n += 1) {
    const writes = listWrites(orders, fence, n);
    const write = writes[n % writes.length];
    if (write === undefined || (surface.startsWith('mcp') && write.tool === undefined)) continue;
    // As an agent, which deletes nothing that is not its own: that keeps it out before its number does.
    if (surface === 'cli' && write.operation === 'task.delete') continue;
    answers.push(toCode(await send(orders, { surface, write, stdio })));
  }
  return answers;
}

async function send(
  orders: ZombieOrders,
  { surface, write, stdio }: { surface: Surface; write: Write; stdio: Stdio | undefined },
): Promise<unknown> {
  const { operation, input, tool = '', argv } = write;
  const [method, path] = write.route;
  switch (surface) {
    case 'rest': {
      const { id: _id, from_id: _from, ...body } = input;
      return ask(orders, method, path, method === 'DELETE' ? undefined : body);
    }
    case 'operation':
      return ask(orders, 'POST', `/operations/${operation}`, input);
    case 'mcp':
      return callTool(orders, tool, input);
    case 'mcp stdio':
      return stdio?.call(tool, input);
    case 'cli':
      return run(orders, ['--json', '--actor', `agent:${orders.actor}`, ...argv]);
    case 'cli --server':
      return run(orders, ['--json', '--server', orders.url, ...argv]);
  }
}

function toCode(answer: unknown): string {
  const { error, code } = answer as { error?: { code: string }; code?: string };
  return error?.code ?? code ?? 'accepted';
}

async function ask(
  { url, token }: ZombieOrders,
  method: string,
  path: string,
  body: object | undefined,
): Promise<unknown> {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return answer.json();
}

async function callTool({ url, token }: ZombieOrders, name: string, input: object): Promise<unknown> {
  const answer = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: input },
    }),
  });
  return toToolAnswer(await answer.json());
}

function toToolAnswer(answer: unknown): unknown {
  const { result } = answer as { result: { content: { text: string }[] } };
  return JSON.parse(result.content[0]?.text ?? 'null');
}

async function run({ forge, cwd, token }: ZombieOrders, argv: readonly string[]): Promise<unknown> {
  const env = { ...process.env, FORGE_TOKEN: token };
  const { stdout } = await promisify(execFile)(process.execPath, [forge, ...argv], { cwd, env }).catch(
    (error: unknown) => error as { stdout: string }, // it ends with a code of its own, after printing why
  );
  return JSON.parse(stdout) as unknown;
}

interface Stdio extends AsyncDisposable {
  call(name: string, input: object): Promise<unknown>;
}

async function openStdio({ forge, cwd, actor }: ZombieOrders): Promise<Stdio> {
  const child: ChildProcess = spawn(process.execPath, [forge, '--actor', `agent:${actor}`, 'mcp'], {
    cwd,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (child.stdout === null) throw new Error('forge mcp has no output');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let id = 0;
  const speak = async (method: string, params: object): Promise<unknown> => {
    id += 1;
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return JSON.parse(String((await lines.next()).value)) as unknown;
  };
  const clientInfo = { name: 'zombie', version: '1' };
  await speak('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  return {
    call: async (name, input) => toToolAnswer(await speak('tools/call', { name, arguments: input })),
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.stdin?.end();
      await ended;
    },
  };
}
