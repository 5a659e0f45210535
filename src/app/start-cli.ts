import { statSync, writeSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import type { Accepted } from '#operations/flag-table.ts';
import { MANIFEST } from '#operations/manifest.generated.ts';
import type { Screen } from '#operations/operation.ts';
import type { CliIo } from '#surfaces/cli/cli-io.ts';
import type { LiveScreen } from '#surfaces/cli/live-screen.ts';
import { createProcessIo } from '#surfaces/cli/process-io.ts';
import { runCli } from '#surfaces/cli/run-cli.ts';
import { systemClock } from '#kernel/clock.ts';
import { openContext } from './open-context.ts';
import type { SocketPlace } from './run/socket-operation.ts';
import { createMeter } from './progress-meter.ts';

/** Where `forge serve` listens unless told otherwise. */
const DEFAULT_SERVER = 'http://127.0.0.1:8080';

/** Wires the command line to this process, the local store and the operations. Returns the exit code. */
export function startCli(argv: readonly string[], version: string): Promise<number> {
  const io = createProcessIo();
  let isRemote = false;
  const screen = lazyScreen(io);
  return runCli(argv, io, {
    table: FLAG_TABLE,
    version,
    async loadOperation(name, accepted) {
      const load = MANIFEST[name];
      if (load === undefined) throw new ForgeError('internal', `No implementation of ${name}`);
      const socket = await findSocket(accepted, () => toCwd(io, accepted));
      if (socket !== undefined && name !== 'mcp.serve') {
        isRemote = true;
        const { createSocketOperation } = await import('./run/socket-operation.ts');
        return createSocketOperation(await load(), accepted, socket);
      }
      const server = findServer(accepted);
      if (server === undefined) return load();
      isRemote = true;
      const { createRemoteOperation } = await import('./remote-operation.ts');
      return createRemoteOperation(await load(), accepted, { server, env: process.env });
    },
    openContext: (accepted) => {
      const { operation, globals, input } = accepted;
      return openContext({
        needs: isRemote ? 'nothing' : operation.needs,
        route: findRoute(operation.route, input),
        operation: operation.name,
        reads: WRITE_FILES_FIRST.has(operation.name) ? false : operation.reads,
        input,
        cwd: toCwd(io, accepted),
        env: process.env,
        vouches: true,
        confirm: ({ lines, question }) => confirm(io, globals.json ? undefined : { lines, question }),
        actor: globals.actor,
        notice: (line) => {
          if (!globals.quiet) screen.above(() => tell(2, `forge: ${escapeLine(line)}`));
        },
        meter: createMeter({
          isTerminal: () => io.isTerminal.stderr && !globals.quiet && !globals.json,
          now: () => systemClock.now(),
        }),
        progress: (line) => {
          if (!globals.json && !globals.quiet) screen.above(() => tell(1, line), 'output');
        },
        terminal:
          globals.json || globals.quiet
            ? undefined
            : {
                open: () => screen.open(globals.color),
                isThere: () => io.isTerminal.stdout && io.env['TERM'] !== 'dumb',
              },
      });
    },
  });
}

/** Most commands draw nothing, and load nothing for it. */
function lazyScreen(io: CliIo): {
  readonly open: (color: boolean) => Promise<Screen | undefined>;
  /** Output of the command may go elsewhere than the picture. */
  readonly above: (write: () => void, what?: 'output') => void;
} {
  let opened: LiveScreen | undefined;
  return {
    async open(color) {
      const { findTerminal } = await import('#surfaces/cli/terminal-device.ts');
      const device = findTerminal({ isTerminal: io.isTerminal, env: io.env, color });
      if (device === undefined) return undefined;
      const { openLiveScreen } = await import('#surfaces/cli/live-screen.ts');
      const screen = openLiveScreen(device);
      opened = screen;
      return {
        ...screen,
        close() {
          opened = undefined;
          screen.close();
        },
      };
    },
    above(write, what) {
      if (opened === undefined || (what === 'output' && !opened.is_output)) write();
      else opened.above(write);
    },
  };
}

/**
 * The server that a command is sent to; undefined when it is done here. A command about the checkout or the terminal
 * stays here, and is refused where a server was asked for by name.
 */
function findServer({ operation, globals }: Accepted): string | undefined {
  const isAlwaysRemote = /(?:^|[\\/])forge-ctl(?:\.cjs)?$/.test(process.argv[1] ?? '');
  const server =
    globals.server ?? (process.env.FORGE_SERVER || (isAlwaysRemote ? DEFAULT_SERVER : undefined));
  if (server === undefined || operation.local !== true) return server;
  if (operation.needs === 'nothing' || (globals.server === undefined && !isAlwaysRemote)) return undefined;
  const command = operation.path.join(' ');
  throw new ForgeError('not_available', `${command} works on the checkout here: no server can do it`, {
    hint: `forge ${command}${globals.server === undefined ? '' : ' without --server'}`,
    details: { operation: operation.name },
  });
}

/** Inside of a run: where its watcher listens. Throws permission_denied for what is not for a run to do. */
async function findSocket(
  { operation, globals, input }: Accepted,
  cwd: () => string,
): Promise<SocketPlace | undefined> {
  const { env } = process;
  // A read outside of every run loads nothing for this.
  if (operation.reads === true && !env['FORGE_SOCKET']) return undefined;
  const [{ findCommandPlace }, { chooseName }] = await Promise.all([
    import('./run/inside-run.ts'),
    import('./find-actor.ts'),
  ]);
  const server = globals.server ?? (env.FORGE_SERVER || undefined);
  const actor = await chooseName(globals.actor, env);
  const place = findCommandPlace({ operation, env, cwd: cwd(), server, actor, input });
  return place.kind === 'socket' ? place : undefined;
}

/** The current folder may be gone, which matters only where it is asked for. */
function toCwd(io: CliIo, { globals: { directory } }: Accepted): string {
  if (directory === undefined) return io.cwd;
  return findFolder(isAbsolute(directory) ? directory : resolve(io.cwd, directory));
}

function findRoute(field: string | undefined, input: Readonly<Record<string, unknown>>): string | undefined {
  const id = field === undefined ? undefined : input[field];
  return typeof id === 'string' ? id : undefined;
}

/** A folder that is not there must not quietly become the project around it. */
function findFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new ForgeError('invalid_input', `-C: ${path} is not a folder`, { details: { path } });
}

/** These write the task files before they write to the store, which may be one that cannot be written. */
const WRITE_FILES_FIRST: ReadonlySet<string> = new Set(['sync.export', 'sync.gc', 'sync.commit']);

/** Progress is for whoever still reads; the work goes on without. */
function tell(file: 1 | 2, line: string): void {
  try {
    writeSync(file, `${line}\n`);
  } catch {
    // The reader went away, or cannot keep up.
  }
}

/** Whoever asks for JSON is a program. Keys that were pressed before the question are not a whole yes. */
async function confirm(
  io: CliIo,
  asked: { readonly lines: readonly string[]; readonly question: string } | undefined,
): Promise<'yes' | 'no' | 'nobody'> {
  if (asked === undefined || !io.isTerminal.stdin || !io.isTerminal.stderr) return 'nobody';
  await io.stderr(`${asked.lines.join('\n')}\n`);
  const answer = await io.ask(asked.question);
  return answer?.trim() === 'yes' ? 'yes' : 'no';
}
