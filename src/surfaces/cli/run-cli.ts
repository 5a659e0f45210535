import { ERROR_CODES, ForgeError, isForgeError, toErrorBody } from '#kernel/errors.ts';
import { escapeLine, escapeText } from '#kernel/text.ts';
import { acceptArgv } from '#operations/accept-argv.ts';
import { listPendingFields } from '#operations/assemble-input.ts';
import { type Accepted, type AnyOperation, type FlagTable, nestParts } from '#operations/flag-table.ts';
import type { OperationContext } from '#operations/operation.ts';
import { checkArgvBytes } from './check-argv.ts';
import type { CliIo } from './cli-io.ts';
import { decideColor, decideColumns } from './terminal.ts';

export interface CliDeps {
  /** Rejects for a name that is in the table but not in the program: a bug. */
  readonly loadOperation: (name: string, accepted: Accepted) => Promise<AnyOperation>;
  /** Called once, when the input is complete. Released before the answer is printed. */
  readonly openContext: (accepted: Accepted) => Promise<OperationContext & AsyncDisposable>;
  /** Makes good what a store_corrupt was about, so that the command can be tried once more. */
  readonly version: string;
  readonly table: FlagTable;
}

/**
 * One command from argv to exit code. Never rejects. The caller ends the process with the code: an operation
 * that was interrupted may still be running.
 */
export async function runCli(argv: readonly string[], io: CliIo, deps: CliDeps): Promise<number> {
  try {
    return await untilInterrupted(performCommand(argv, io, deps), io.interrupted);
  } catch (error) {
    return reportError(error, argv, io);
  }
}

async function performCommand(argv: readonly string[], io: CliIo, deps: CliDeps): Promise<number> {
  checkArgvBytes(argv, io.rawArgv);
  if (isVersionCall(argv)) {
    const text = argv.includes('--json') ? toJsonText({ version: deps.version }, io) : deps.version;
    await writeOutput(io, `${text}\n`);
    return 0;
  }
  const parsed = acceptArgv(argv, deps.table) ?? (await parseSlowly(argv, io, deps));
  if (typeof parsed === 'string') {
    await writeOutput(io, parsed);
    return 0;
  }
  const accepted = await complete(parsed, io);
  const operation = await deps.loadOperation(accepted.operation.name, accepted);
  const { output, now } = await execute(operation, accepted, deps);
  await printOutput(operation, { output, now, accepted }, io);
  return operation.exit?.(output) ?? 0;
}

/** `--version` alone; with a command it may be a flag of that command. */
function isVersionCall(argv: readonly string[]): boolean {
  return argv.includes('--version') && argv.every((word) => word === '--version' || word === '--json');
}

async function parseSlowly(
  argv: readonly string[],
  io: CliIo,
  { table, version }: CliDeps,
): Promise<Accepted | string> {
  const { parseArgv } = await import('./commander-parser.ts');
  const flag = !argv.includes('--no-color');
  const isTerminal = io.isTerminal.stdout;
  const view = {
    color: decideColor({ flag, env: io.env, isTerminal }),
    columns: decideColumns({ columns: isTerminal ? io.columns : undefined, isTerminal, env: {} }),
  };
  const parsed = parseArgv(argv, { table, version, view });
  return parsed.outcome === 'accepted' ? parsed.accepted : parsed.text;
}

async function complete(accepted: Accepted, io: CliIo): Promise<Accepted> {
  if (accepted.files.length === 0 && listPendingFields(accepted).length === 0) return accepted;
  const { completeInput } = await import('./complete-input.ts');
  return completeInput(accepted, io);
}

interface Answer {
  readonly output: unknown;
  readonly now: number;
}

/** The context is closed before anything is printed: a slow reader must not hold the database. */
async function execute(operation: AnyOperation, accepted: Accepted, deps: CliDeps): Promise<Answer> {
  await using context = await deps.openContext(accepted);
  const output = await operation.run(context, nestParts(accepted.operation, accepted.input));
  return { output, now: context.clock.now() };
}

async function printOutput(
  operation: AnyOperation,
  { output, now, accepted }: Answer & { accepted: Accepted },
  io: CliIo,
): Promise<void> {
  const { globals } = accepted;
  if (globals.json) {
    const document = globals.fields === undefined ? output : projectFields(output, globals.fields);
    await writeOutput(io, `${toJsonText(document, io)}\n`);
  } else {
    const isTerminal = io.isTerminal.stdout;
    const color = decideColor({ flag: globals.color, env: io.env, isTerminal });
    const columns = decideColumns({ columns: isTerminal ? io.columns : undefined, isTerminal, env: io.env });
    const { limit } = accepted.input;
    const asked = typeof limit === 'number' ? { limit } : {};
    const text = operation.text(output, { color, columns, now, ...asked });
    if (text !== '') await writeOutput(io, `${text}\n`);
  }
}

/** The fields in the order they were asked for. One that an answer leaves out stays out. */
function projectFields(output: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(output)) return output.map((row: unknown) => projectFields(row, fields));
  if (typeof output !== 'object' || output === null) return output;
  return Object.fromEntries(
    fields.flatMap((field) =>
      Object.hasOwn(output, field) ? [[field, (output as Record<string, unknown>)[field]]] : [],
    ),
  );
}

/** For people with indentation, and with the characters escaped that a terminal would obey; for programs on one line. */
function toJsonText(document: unknown, io: CliIo): string {
  return io.isTerminal.stdout ? escapeText(JSON.stringify(document, null, 2)) : JSON.stringify(document);
}

/** A reader that went away (`| head`) has what it wanted. */
async function writeOutput(io: CliIo, text: string): Promise<void> {
  try {
    await io.stdout(text);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    if (code === 'EPIPE') return;
    // Not disk_full: that means "nothing was changed, try again", and what was asked for has been done.
    throw new ForgeError(
      'io_failed',
      `The command was carried out, but its answer could not be written (${code})`,
      { cause: error },
    );
  }
}

/** Nobody can be told that telling failed. */
async function writeMessage(io: CliIo, text: string): Promise<void> {
  await io.stderr(text).catch(() => undefined);
}

async function reportError(error: unknown, argv: readonly string[], io: CliIo): Promise<number> {
  const body = toErrorBody(error);
  const { exit } = ERROR_CODES[body.code];
  if (wantsJson(argv)) {
    const written = await io.stdout(`${toJsonText({ error: body }, io)}\n`).then(
      () => true,
      () => false,
    );
    if (written) return exit;
  }
  const hint = body.hint === undefined ? '' : `  try: ${escapeLine(body.hint)}\n`;
  const { faults } = body.details;
  const list = Array.isArray(faults) ? (await import('./fault-lines.ts')).faultLines(faults) : '';
  await writeMessage(io, `forge: ${escapeLine(body.message)}\n${list}${hint}`);
  const isBug = !isForgeError(error) || body.code === 'internal';
  if (isBug && (io.env['FORGE_DEBUG'] ?? '') !== '' && error instanceof Error)
    await writeMessage(io, `${escapeText(error.stack ?? '')}\n`);
  return exit;
}

/** Looked for in the words themselves, because argv may be what is wrong. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end === -1 ? argv : argv.slice(0, end)).includes('--json');
}

function untilInterrupted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new ForgeError('interrupted', 'Interrupted'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
