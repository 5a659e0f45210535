import { ForgeError } from '#kernel/errors.ts';
import type { Ended, Supervised } from '#process/supervise.ts';
import { concludeRun } from './conclude-run.ts';
import type { Executor, ExecutorTools, RunEnd, RunHost, RunSpec, StartedRun } from './executor.ts';
import { GatheredOutput } from './gathered-output.ts';
import { LastWords } from './last-words.ts';
import { UNKNOWN_USAGE } from './protocols/session.ts';
import { askForJson, findJsonAnswer } from './protocols/structured-answer.ts';
import { startProgram } from './start-program.ts';

/** Any program: the prompt is its standard input, what it writes is the transcript, its exit code the outcome. */
export function createShellExecutor(tools: ExecutorTools): Executor {
  return {
    async start(spec, host) {
      const command = spec.profile.command ?? [];
      if (command.length === 0) {
        throw new ForgeError('invalid_input', 'The shell executor needs a command', {
          hint: 'forge agent add <name> --executor shell --command <program> --command <argument>',
        });
      }
      return startShell({ spec, host, tools, argv: command });
    },
  };
}

interface ShellStart {
  readonly spec: RunSpec;
  readonly host: RunHost;
  readonly tools: ExecutorTools;
  readonly argv: readonly string[];
}

async function startShell(start: ShellStart): Promise<StartedRun> {
  const { spec, host, argv } = start;
  const said = new LastWords();
  const output = new GatheredOutput((entry) => host.tell(entry));
  const supervised = await startProgram(
    {
      ...start,
      idle_ms: spec.limits.idle_ms,
      // Scripts write to /dev/stderr.
      output: 'fifos',
      hint: `Is ${argv[0]} installed and on the PATH?`,
    },
    {
      line(stream, { text, cut, bytes }) {
        output.add(stream, text);
        if (cut) {
          output.flush();
          host.tell({ kind: 'note', text: `The line goes on to ${bytes} bytes; it is too long` });
        }
        if (stream === 'stdout') said.add(text);
      },
    },
  );
  host.tell({ kind: 'message', role: 'user', text: spec.prompt });
  feed(supervised, spec);
  const ended = supervised.done.then((end) => {
    output.flush();
    return conclude(start, end, String(said));
  });
  return {
    send: async () => false,
    unheard: () => [],
    async stop() {
      await supervised.stop();
    },
    ended,
  };
}

/** A program that does not read its input is no fault. */
function feed(supervised: Supervised, { prompt, output_schema }: RunSpec): void {
  const text = output_schema === undefined ? prompt : `${prompt}\n\n${askForJson(output_schema)}\n`;
  supervised.write(text).then(
    () => supervised.endInput(),
    () => {},
  );
}

function conclude({ spec, tools }: ShellStart, ended: Ended, said: string): RunEnd {
  const done = ended.reason === 'exited' && ended.exit === 0;
  return concludeRun({
    program: spec.profile.command?.[0] ?? spec.profile.executor,
    report: {
      finished: done,
      failure: undefined,
      denials: 0,
      gave_up: false,
      usage: UNKNOWN_USAGE,
      structured: spec.output_schema === undefined ? undefined : findJsonAnswer(said),
      last_message: said === '' ? undefined : said,
    },
    ended,
    why: ended.reason === 'stopped' ? 'stopped' : undefined,
    now: tools.clock.now(),
    // It may write there whatever it likes, about the weather too.
    errors_on_stderr: false,
  });
}
