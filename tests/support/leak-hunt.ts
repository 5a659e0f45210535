import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Run } from '#contract/attempt.ts';
import { OPERATIONS } from '#contract/operations.ts';
import type { Task } from '#contract/task.ts';
import { followEvents } from './event-client.ts';
import { forgeProjectHere } from './forge-here.ts';
import { startForgeServer, type ForgeServer } from './forge-server.ts';
import { seededRandom } from './random.ts';
import { setWalls } from './walls.ts';

/** How they are printed: the last one in two writes. */
export const ENCODINGS = [
  'plain',
  'base64',
  'hex',
  'URL',
  'JSON',
  'base64 of UTF-16',
  'hex of UTF-16',
  'code of a terminal',
  'control character',
  'invisible character',
  'HTML',
  'braces',
  'split',
] as const;

/** Each has to show the open word, or the measurement looks at nothing. */
export const SINKS = [
  'live lines',
  'database',
  'database file',
  'write-ahead log',
  'store folder',
  'records',
  'run logs',
  'task files',
  'git',
  'events',
  'REST',
  'MCP',
  'HTML and SVG',
  'command line',
  'prompts',
] as const;

/** A word that no person called a secret: where it is not found, a secret would not be found either. */
const OPEN_WORD = 'OrdinaryWord';
const TOKEN = `ghp_${'a1B2'.repeat(9)}`;
/** What the end of a check's output has room for that becomes the reason of a move, in all encodings. */
const SECRETS_A_TASK = 3;

type Project = Awaited<ReturnType<typeof forgeProjectHere>>;

/** Where the texts were found that Forge keeps or shows, by the name of the sink. */
type Sinks = Map<string, Buffer[]>;

interface Leak {
  readonly sink: string;
  readonly form: string;
  readonly secret: string;
}

interface HuntEnd {
  readonly leaks: readonly Leak[];
  /** Sinks in which the open word was found. */
  readonly seen: readonly string[];
  readonly secrets: number;
}

/**
 * Agents, set-ups, checks, teardowns and auditors that print secrets in many encodings, on tasks of a real project; then
 * every byte is looked at that Forge has kept or shows. `plant` says that the secrets are told to no one: what finds no
 * leak then finds none ever.
 */
export async function huntLeaks(options: {
  readonly secrets: number;
  readonly seed: number;
  readonly plant?: boolean;
}): Promise<HuntEnd> {
  const secrets = [TOKEN, ...makeSecrets(options.secrets - 1, options.seed)];
  await using project = await forgeProjectHere();
  setWalls(project.home, 'off');
  const world = join(dirname(project.path), 'world');
  mkdirSync(join(world, 'prompts'), { recursive: true });
  writeFileSync(join(world, 'say.mjs'), SAY);
  await project.write('README.md', 'first\n');
  project.git('add', '-A');
  project.git('commit', '-qm', 'first');
  const told: string[] = [];
  for (let from = 0; from < secrets.length; from += SECRETS_A_TASK) {
    const some = secrets.slice(from, from + SECRETS_A_TASK);
    told.push(
      ...(await workThrough(project, {
        world,
        name: `w${from}`,
        secrets: some,
        isPlanted: options.plant === true,
      })),
    );
  }
  await project.run('commit');
  const sinks: Sinks = new Map();
  add(sinks, 'live lines', told.join('\n'));
  await using server = await startForgeServer(project);
  // What a server writes lies in the log of its database for a while.
  const [task] = await project.json<Task[]>('task', 'list', '--all');
  await server.ask(`/api/v1/tasks/${task?.id}/comments`, { body: { body: OPEN_WORD } });
  await collectAnswers(project, server, sinks);
  collectFiles(project, world, sinks);
  add(sinks, 'server output', server.told());
  return search(sinks, secrets);
}

/** One task with all that can be said on its way to main; gives what was shown meanwhile. */
async function workThrough(
  project: Project,
  {
    world,
    name,
    secrets,
    isPlanted,
  }: { world: string; name: string; secrets: readonly string[]; isPlanted: boolean },
): Promise<string[]> {
  const file = join(world, `${name}.json`);
  writeFileSync(file, JSON.stringify({ secrets, open: OPEN_WORD }));
  const say = `'${process.execPath}' '${join(world, 'say.mjs')}' '${file}'`;
  const script = [
    `cat > '${world}/prompts/'"$FORGE_RUN_ID"`,
    say,
    `${say} >&2`,
    `forge task comment "$FORGE_TASK_ID" "$(${say})" >/dev/null`,
    // A check that fails brings it back; once is enough.
    `[ -e made-${name} ] || forge task create "${OPEN_WORD} of $FORGE_TASK_ID" --description "$(${say})" >/dev/null`,
    `date +%N >> made-${name}`,
  ];
  const verdict = `${say} verdict`;
  const env = isPlanted ? [] : secrets.map((value, at) => `--env=SECRET_${at}=${value}`);
  await addAgent(project, name, script.join('\n'), env);
  await addAgent(project, `${name}-judge`, verdict, env);
  const config = JSON.parse(await project.read('.forge/config.json')) as object;
  await project.write(
    '.forge/config.json',
    JSON.stringify({ ...config, workspace: { setup: [say], teardown: [say] } }),
  );
  await project.text('trust', '--yes');
  // Fails where only one run has worked on it.
  const check = `${say}; test "$(wc -l < made-${name})" -gt 1`;
  const { id } = await project.create('Say it', '--ci-step', check);
  await project.run('trust', '--yes');
  await project.run('task', 'assign', id, 'reviewer', '--agent', `${name}-judge`);
  const shown: string[] = [];
  for (let round = 0; round < 2; round += 1) {
    const { stdout, stderr } = await project.program.run('run', id, '--agent', name, '--merge');
    shown.push(stdout, stderr);
  }
  await project.run('workspace', 'clean', '--all');
  return shown;
}

async function addAgent(
  project: Project,
  name: string,
  script: string,
  env: readonly string[],
): Promise<void> {
  const words = ['bash', '-c', script].map((word) => `--command=${word}`);
  await project.json('agent', 'add', name, '--executor', 'shell', ...words, ...env);
}

/** Prints every secret in all encodings, on one stream, one of them in two writes; or as the verdict of an auditor. */
const SAY = `
import { readFileSync } from 'node:fs';
const { secrets, open } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const hide = (one, sign) => one.slice(0, 9) + sign + one.slice(9);
const lines = secrets.flatMap((one) => [
  one,
  Buffer.from('key' + one).toString('base64'),
  Buffer.from(one).toString('hex'),
  encodeURIComponent(one),
  JSON.stringify({ one }),
  Buffer.from(one, 'utf16le').toString('base64'),
  Buffer.from(one, 'utf16le').swap16().toString('hex'),
  hide(one, '\\u001b(B'),
  hide(one, '\\u000f'),
  hide(one, '\\ufe0f'),
  [...one].map((letter) => '&#X' + letter.codePointAt(0).toString(16).padStart(6, '0') + ';').join(''),
  [...one].map((letter) => '\\\\u{' + letter.codePointAt(0).toString(16) + '}').join(''),
]);
if (process.argv[3] === 'verdict') {
  const message = [...lines, open].join(' ');
  console.log(JSON.stringify({ verdict: 'pass', summary: message, findings: [{ severity: 'minor', message }] }));
} else {
  for (const line of lines) console.log(line);
  for (const one of secrets) {
    process.stdout.write(one.slice(0, 9));
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.stdout.write(one.slice(9) + '\\n');
  }
  console.log(open);
}
`;

/** Of letters and figures, and of all that is written differently in one of the encodings. */
function makeSecrets(count: number, seed: number): string[] {
  const random = seededRandom(seed);
  const signs = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=%&?#"\\é~!'.split('');
  const word = (): string => Array.from({ length: 18 + random.below(12) }, () => random.pick(signs)).join('');
  return Array.from({ length: count }, () => `k${word()}`);
}

/** All that answers: the server's routes, its events, its tools, and the commands of a person. */
async function collectAnswers(project: Project, server: ForgeServer, sinks: Sinks): Promise<void> {
  const tasks = await project.json<Task[]>('task', 'list', '--all');
  const runs = await project.json<Run[]>('runs', 'list');
  const ids = { tasks: tasks.map(({ id }) => id), executions: runs.map(({ id }) => id) };
  const { name } = JSON.parse(await project.read('.forge/config.json')) as { name: string };
  for (const path of listPaths(ids, name)) {
    const { body } = await server.ask(`/api/v1${path}`);
    add(sinks, 'REST', typeof body === 'string' ? body : JSON.stringify(body));
  }
  for (const path of ['/', '/api/v1/docs', `/api/v1/projects/${name}/graph?format=svg&all=true`]) {
    const { body } = await server.ask(path);
    add(sinks, 'HTML and SVG', typeof body === 'string' ? body : JSON.stringify(body));
  }
  using feed = await followEvents(`${server.url}/api/v1/events?after=0`, { token: server.token });
  const events = await project.json<unknown[]>('events', '--limit', '1000');
  add(sinks, 'events', JSON.stringify(events));
  const seen = await Promise.race([feed.until(events.length), sleep(5_000)]);
  add(sinks, 'events', JSON.stringify(seen ?? feed.events));
  await collectTools(server, ids.tasks, sinks);
  const commands = ids.tasks.flatMap((id) => [
    ['task', 'show', id],
    ['task', 'reviews', id],
    ['task', 'history', id],
    ['task', 'transitions', id],
    ['task', 'comments', id],
    ['task', 'result', id],
  ]);
  for (const args of [
    ...commands,
    ...ids.executions.map((id) => ['runs', 'logs', id]),
    ['report'],
    ['inbox'],
    ['graph'],
  ])
    for (const flags of [[], ['--json']]) {
      const { stdout, stderr } = await project.run(...args, ...flags);
      add(sinks, 'command line', `${stdout}\n${stderr}`);
    }
}

function listPaths(ids: Readonly<Record<string, readonly string[]>>, project: string): string[] {
  return OPERATIONS.flatMap((declaration) => {
    const { http } = declaration;
    if (http?.method !== 'get' || http.path.endsWith('/wait')) return [];
    const path = http.path.replace('{project}', project);
    const [, area = ''] = path.split('/');
    if (path.includes('{id}')) return (ids[area] ?? []).map((id) => path.replace('{id}', id));
    return path.includes('{') ? [] : [path];
  });
}

async function collectTools(
  { url, token }: ForgeServer,
  tasks: readonly string[],
  sinks: Sinks,
): Promise<void> {
  const client = new Client({ name: 'test', version: '1' });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  );
  const { tools } = await client.listTools();
  for (const { name, annotations } of tools) {
    if (annotations?.readOnlyHint !== true || name.includes('wait')) continue;
    for (const id of tasks) {
      const answer = await client
        .callTool({ name, arguments: { id } })
        .catch((error: unknown) => String(error));
      add(sinks, 'MCP', JSON.stringify(answer));
    }
    add(sinks, 'MCP', JSON.stringify(await client.callTool({ name, arguments: {} }).catch(String)));
  }
  await client.close();
}

/** Every file that Forge has written, every object of git, and what agents were told. */
function collectFiles(project: Project, world: string, sinks: Sinks): void {
  const store = join(project.path, '.git', 'forge');
  for (const path of listFiles(store)) add(sinks, toSink(relative(store, path)), readFileSync(path));
  using database = project.openDatabase();
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  for (const { name } of tables) {
    const rows = database.prepare(`SELECT * FROM "${String(name)}"`).all();
    add(sinks, 'database', JSON.stringify(rows));
  }
  for (const path of listFiles(join(project.path, '.forge')).filter((one) => one.endsWith('.jsonl')))
    add(sinks, 'task files', readFileSync(path));
  add(sinks, 'git', project.git('cat-file', '--batch', '--batch-all-objects', '--buffer'));
  for (const path of listFiles(join(world, 'prompts'))) add(sinks, 'prompts', readFileSync(path));
  // Where the person has given them to the agents, they stand.
  // Where the values of --env are kept, for their owner alone.
  const isKept = (path: string): boolean => /(?:agents|given-values)\.jsonl/.test(path);
  for (const path of listFiles(join(project.home, '.forge')).filter((one) => !isKept(one)))
    add(sinks, 'home', readFileSync(path));
}

function toSink(path: string): string {
  if (path.endsWith('.db')) return 'database file';
  if (path.endsWith('.db-wal')) return 'write-ahead log';
  if (/attempts\/.+\.jsonl/.test(path)) return 'run logs';
  if (path.endsWith('record.json')) return 'records';
  return 'store folder';
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function add(sinks: Sinks, name: string, content: string | Buffer): void {
  sinks.set(name, [...(sinks.get(name) ?? []), Buffer.from(content)]);
}

function search(sinks: Sinks, secrets: readonly string[]): HuntEnd {
  const joined = [...sinks].map(([sink, parts]) => [sink, Buffer.concat(parts)] as const);
  const leaks = secrets.flatMap((secret) =>
    [...toForms(secret)].flatMap(([form, sought]) =>
      joined.flatMap(([sink, text]) => (text.includes(sought) ? [{ sink, form, secret }] : [])),
    ),
  );
  const seen = joined.flatMap(([sink, text]) => (text.includes(OPEN_WORD) ? [sink] : []));
  return { leaks, seen, secrets: secrets.length };
}

/** Worked out apart from what Forge looks for. Of base64 the middle, wherever it begins within a group of three. */
function toForms(secret: string): Map<string, string> {
  const bytes = Buffer.from(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const middle = (before: string): string =>
    Buffer.concat([Buffer.from(before), bytes])
      .toString('base64')
      .slice(4, -4);
  return new Map([
    ['plain', secret],
    ['hex', bytes.toString('hex')],
    ['URL', encodeURIComponent(secret)],
    ['JSON', json],
    ['JSON in JSON', JSON.stringify(json).slice(1, -1)],
    ['base64', middle('')],
    ['base64 after one', middle('x')],
    ['base64 after two', middle('xy')],
    ['base64 of UTF-16', Buffer.from(secret, 'utf16le').toString('base64').slice(0, -4)],
    ['hex of UTF-16', Buffer.from(secret, 'utf16le').swap16().toString('hex')],
    ...['\u001b(B', '\u000f', '\ufe0f'].flatMap((sign) => hideForms(secret, sign)),
    ['HTML', escapeAll(secret, (code) => `&#X${code.padStart(6, '0')};`)],
    ['braces', escapeAll(secret, (code) => `\\u{${code}}`)],
    ['braces in JSON', escapeAll(secret, (code) => `\\\\u{${code}}`)],
  ]);
}

/** As it is printed, and as it stands in JSON. */
function hideForms(secret: string, sign: string): [string, string][] {
  const hidden = `${secret.slice(0, 9)}${sign}${secret.slice(9)}`;
  const name = `with ${JSON.stringify(sign)}`;
  return [
    [name, hidden],
    [`${name} in JSON`, JSON.stringify(hidden).slice(1, -1)],
  ];
}

function escapeAll(secret: string, toEscape: (code: string) => string): string {
  return Array.from(secret, (letter) => toEscape((letter.codePointAt(0) ?? 0).toString(16))).join('');
}
