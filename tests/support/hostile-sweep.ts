// A process of its own that runs every verb in one place: `node hostile-sweep.ts <file>`. The file names the place and
// the folder of marks. Prints a line of JSON for each verb: how it ended, and the marks that were left meanwhile.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { ProgramResult } from './forge-cli.ts';
import { FORGE } from './forge-program.ts';
import { toWords, VERBS } from './hostile-verbs.ts';
import { readPackets, takeMarks } from './hostile-marks.ts';
import { runHere } from './run-here.ts';

export interface SweepPlan {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Of `hostile-marks.ts`. */
  readonly outside: string;
  /** Whether it has a network of its own, whose packets can be counted. */
  readonly alone: boolean;
  /** Only these operations; all where it is left out. */
  readonly only?: readonly string[];
}

/** What one verb came to. */
export interface SweptVerb {
  readonly operation: string;
  readonly line: string;
  readonly exit: number;
  readonly said: string;
  /** What ran, or was changed outside of the repository; `packets` where some were sent. */
  readonly marks: readonly string[];
}

const { cwd, env, outside, only, alone } = JSON.parse(
  readFileSync(process.argv[2] ?? '', 'utf8'),
) as SweepPlan;
/** What these start runs on after a command has ended, or they wait for their input. */
const BY_PROGRAM = new Set(['mcp.serve', 'dispatch']);
const GREETING = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
})}\n${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} })}\n`;

let packets = readPackets();
for (const [operation, line] of VERBS) {
  if (only !== undefined && !only.includes(operation)) continue;
  const words = await fillIn(toWords(line));
  const { exit, stdout, stderr } = await run(operation, words);
  const said = `${stderr}${stdout}`.slice(0, 400);
  const sent = readPackets() - packets;
  packets += sent;
  const marks = [...takeMarks(outside), ...(alone && sent > 0 ? ['packets'] : [])];
  const told: SweptVerb = { operation, line, exit, said, marks };
  writeSync(1, `${JSON.stringify(told)}\n`);
}
// A watcher of a run may still hold something of this process open.
process.exit(0);

function run(operation: string, words: readonly string[]): Promise<ProgramResult> {
  if (operation === 'server.run') return serve(words);
  if (BY_PROGRAM.has(operation)) return runProgram(words);
  return runHere(words, { cwd, env, stdin: '' }).catch((error: unknown) => ({
    stdout: '',
    stderr: String(error),
    exit: 70,
  }));
}

async function runProgram(words: readonly string[]): Promise<ProgramResult> {
  const child = spawn(process.execPath, [FORGE, ...words], { cwd, env, stdio: 'pipe' });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on('error', () => undefined).end(GREETING);
  const [code] = (await once(child, 'exit')) as [number | null];
  return { stdout, stderr, exit: code ?? 137 };
}

/** Until it says where it listens; a repository may also keep it from starting. */
async function serve(words: readonly string[]): Promise<ProgramResult> {
  const child = spawn(process.execPath, [FORGE, ...words], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const line = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  await Promise.race([line, ended]);
  child.kill('SIGTERM');
  const [code] = await ended;
  return { stdout: '', stderr, exit: code ?? 137 };
}

async function fillIn(words: readonly string[]): Promise<string[]> {
  return Promise.all(words.map(async (word) => (word.startsWith('{') ? findLast(word) : word)));
}

async function findLast(what: string): Promise<string> {
  const list = { '{run}': ['runs', 'list'], '{attempt}': ['task', 'attempts', 'fg-a3f8'] }[what];
  const { stdout } = await runHere([...(list ?? ['token', 'list']), '--json'], { cwd, env });
  const ids = [...stdout.matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id);
  return ids.at(-1) ?? 'deadbeef';
}
