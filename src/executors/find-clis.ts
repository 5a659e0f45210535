import { randomUUID } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { escapeLine } from '#kernel/text.ts';
import { LIMITS } from '#kernel/limits.ts';
import { toChildEnvironment } from '#process/child-environment.ts';
import type { ProcessHost } from '#process/process-host.ts';
import { startSupervised } from '#process/supervise.ts';
import { EXECUTOR_TYPES, pickEnvironment, type ExecutorCli, type ExecutorType } from './executor-types.ts';
import { fieldsOf, parseFields } from './protocols/fields.ts';
import { findLastLine } from './protocols/last-line.ts';

/** An agent CLI as it is on this machine. */
export interface FoundCli {
  readonly executor: string;
  readonly program: string;
  readonly found: boolean;
  readonly path: string | null;
  readonly version: string | null;
  /** It speaks the protocol that Forge speaks with it. */
  readonly answers: boolean;
  readonly problem: string | null;
  readonly install: string | null;
}

export interface CliSearch {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly processes: ProcessHost;
  readonly version: string;
  readonly types?: readonly ExecutorType[];
  readonly limits?: { readonly probe_ms?: number };
}

/** Looks for every agent CLI that Forge knows, and talks to those that are there. No model is asked anything. */
export async function findClis(search: CliSearch): Promise<readonly FoundCli[]> {
  const found: FoundCli[] = [];
  // One after the other: each of them takes a core and some hundred megabytes to say hello.
  for (const { kind, cli, environment } of search.types ?? (EXECUTOR_TYPES as readonly ExecutorType[]))
    if (cli !== undefined) found.push(await probeCli(search, { kind, cli, environment }));
  return found;
}

type Probed = Pick<ExecutorType, 'kind' | 'environment'> & { readonly cli: ExecutorCli };

async function probeCli(search: CliSearch, { kind, cli }: Probed): Promise<FoundCli> {
  const install = cli.package === undefined ? null : `npm install -g ${cli.package}`;
  const path = findOnPath(cli.program, search.env['PATH'] ?? '');
  const row = { executor: kind, program: cli.program, path: path ?? null, install };
  if (path === undefined) {
    const problem = `${cli.program} is not on the PATH`;
    return { ...row, found: false, version: null, answers: false, problem };
  }
  const env = toChildEnvironment(search.env, pickEnvironment(kind, search.env));
  const version = await talk(search, { argv: [path, '--version'], env, isAnswer: () => true });
  if (version.answer === undefined)
    return {
      ...row,
      found: true,
      version: null,
      answers: false,
      problem: toProblem('say its version', version),
    };
  const hello = await talk(search, {
    argv: [path, ...toArguments(kind, cli)],
    env,
    ...toHandshake(kind, search),
  });
  return {
    ...row,
    found: true,
    version: toVersion(version.answer),
    answers: hello.answer !== undefined,
    problem: hello.answer === undefined ? toProblem('answer the handshake', hello) : null,
  };
}

interface Handshake {
  readonly say?: string | undefined;
  readonly isAnswer: (line: string) => boolean;
}

function toArguments(kind: string, cli: ExecutorCli): readonly string[] {
  if (kind !== 'claude') return cli.arguments;
  return ['-p', '--verbose', '--output-format', 'stream-json', '--input-format', 'stream-json'];
}

/** The first thing that Forge says to each of them, and what the right answer looks like. */
function toHandshake(kind: string, { version }: CliSearch): Handshake {
  if (kind === 'claude') {
    const say = { type: 'control_request', request_id: 'forge-1', request: { subtype: 'initialize' } };
    return {
      say: JSON.stringify(say),
      isAnswer: (line) => parseFields(line)?.['type'] === 'control_response',
    };
  }
  const clientInfo = { name: 'forge', title: 'Forge', version };
  const params =
    kind === 'codex'
      ? { clientInfo, capabilities: null }
      : { protocolVersion: 1, clientCapabilities: {}, clientInfo };
  return {
    say: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
    isAnswer: (line) => {
      const message = parseFields(line);
      return message?.['id'] === 1 && Object.keys(fieldsOf(message['result'])).length > 0;
    },
  };
}

interface Talk extends Handshake {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface Talked {
  readonly answer: string | undefined;
  readonly timed_out: boolean;
  readonly stderr: string;
}

const OUTPUT_BYTES = 4_194_304;

/** Starts it, says one thing, and ends it with all it started as soon as it has answered. */
async function talk(search: CliSearch, { argv, env, say, isAnswer }: Talk): Promise<Talked> {
  const answered = Promise.withResolvers<string>();
  let answer: string | undefined;
  await using program = await startSupervised(
    {
      argv,
      cwd: search.cwd,
      env,
      marker: { name: 'FORGE_PROBE_ID', value: randomUUID() },
      stdin: say === undefined ? 'none' : 'pipe',
      host: search.processes,
      limits: {
        total_ms: search.limits?.probe_ms ?? LIMITS.cli_probe_ms,
        idle_ms: Number.POSITIVE_INFINITY,
        output_bytes: OUTPUT_BYTES,
      },
    },
    {
      line(stream, { text }) {
        if (stream !== 'stdout' || answer !== undefined || text.trim() === '' || !isAnswer(text)) return;
        answer = text;
        answered.resolve(text);
      },
    },
  );
  if (say !== undefined) await program.write(`${say}\n`);
  await Promise.race([answered.promise, program.done]);
  program.endInput();
  const ended = await program.stop();
  return { answer, timed_out: ended.reason === 'total_timeout', stderr: ended.stderr_tail };
}

function toProblem(what: string, { timed_out, stderr }: Talked): string {
  if (timed_out) return `It did not ${what} in time`;
  const last = findLastLine(stderr);
  return escapeLine(`It did not ${what}${last === undefined ? '' : `: ${last}`}`);
}

function toVersion(line: string): string {
  const [found] = /(?<!\d)\d+\.\d+(?:\.\d+)?[\w.+-]*/.exec(line) ?? [];
  return found ?? escapeLine(line.slice(0, 100));
}

/** Only absolute folders: what a repository puts beside the work is no program of the user's. */
export function findOnPath(program: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, program))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
