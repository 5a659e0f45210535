import { LIMITS } from '#kernel/limits.ts';
import type { Ended, OutputLine, Supervised } from '#process/supervise.ts';
import { workOnFile } from './agent-files.ts';
import { concludeRun, type OurReason } from './conclude-run.ts';
import { decidePermission } from './decide-permission.ts';
import type { ExecutorTools, RunEnd, RunHost, RunSpec, StartedRun } from './executor.ts';
import { limitEntries } from './limit-entries.ts';
import { startProgram } from './start-program.ts';
import type { Decision, PermissionAsk, ProtocolSession, SessionStep } from './protocols/session.ts';

export interface Drive {
  readonly spec: RunSpec;
  readonly host: RunHost;
  readonly tools: ExecutorTools;
  readonly session: ProtocolSession;
  /** The program and all its arguments. */
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** What a person is to do where the program is not there. */
  readonly hint?: string | undefined;
}

/** Starts a program that speaks a protocol and leads the conversation with it to its end. */
export async function driveSession(drive: Drive): Promise<StartedRun> {
  const driver = new SessionDriver(drive);
  await driver.start();
  return driver;
}

class SessionDriver implements StartedRun {
  readonly ended: Promise<RunEnd>;
  readonly #drive: Drive;
  readonly #end = Promise.withResolvers<RunEnd>();
  /** Questions that a person has not answered yet. */
  readonly #open = new Map<string, AbortController>();
  #supervised: Supervised | undefined;
  #why: OurReason | undefined;
  #stopping: Promise<void> | undefined;
  #idle: NodeJS.Timeout | undefined;
  #exit: NodeJS.Timeout | undefined;
  #pause: NodeJS.Timeout | undefined;
  readonly #ready = Promise.withResolvers<void>();
  readonly #finished = Promise.withResolvers<void>();
  #over = false;

  constructor(drive: Drive) {
    this.#drive = drive;
    this.ended = this.#end.promise;
  }

  async start(): Promise<void> {
    const { spec, host, session } = this.#drive;
    // Silence is counted here: while a person is asked the program may be silent, and must still be read.
    const supervised = await startProgram(
      { ...this.#drive, idle_ms: Number.POSITIVE_INFINITY },
      { line: (stream, line) => this.#listen(stream, line) },
    ).finally(() => this.#ready.resolve());
    this.#supervised = supervised;
    supervised.done.then(
      (ended) => this.#conclude(ended),
      (error: unknown) => this.#conclude(toBroken(error), 'broken'),
    );
    this.#restartIdle();
    host.tell({ kind: 'message', role: 'user', text: spec.prompt });
    this.#perform(session.begin());
  }

  async send(text: string): Promise<boolean> {
    const { session, host } = this.#drive;
    if (this.#over || this.#stopping !== undefined || session.report().finished) return false;
    const steps = session.send(text);
    if (steps === undefined) return false;
    host.tell({ kind: 'message', role: 'user', text });
    this.#perform(steps);
    return true;
  }

  unheard(): readonly string[] {
    return this.#drive.session.report().unheard ?? [];
  }

  stop(): Promise<void> {
    return this.#stop('stopped');
  }

  #stop(why: OurReason): Promise<void> {
    this.#stopping ??= this.#askThenStop(why);
    return this.#stopping;
  }

  /** Asked first: a program that ends its turn itself leaves a conversation that can be gone on with. */
  async #askThenStop(why: OurReason): Promise<void> {
    if (this.#over) return;
    this.#why = why;
    const { session, tools } = this.#drive;
    if (why === 'stopped' && !session.report().finished) {
      this.#perform(session.interrupt());
      await settlesWithin(this.#finished.promise, tools.limits?.interrupt_ms ?? LIMITS.agent_interrupt_ms);
    }
    await this.#supervised?.stop();
    await this.ended;
  }

  /** A program that speaks before it was noted waits for that. */
  #listen(stream: 'stdout' | 'stderr', line: OutputLine): void | Promise<void> {
    if (this.#supervised !== undefined) return this.#takeLine(stream, line);
    return this.#ready.promise.then(() => this.#takeLine(stream, line));
  }

  #takeLine(stream: 'stdout' | 'stderr', line: OutputLine): void {
    const { session, host } = this.#drive;
    this.#restartIdle();
    if (stream === 'stderr') {
      if (line.text.trim() !== '') host.tell({ kind: 'output', stream, text: line.text });
      return;
    }
    if (line.cut) {
      host.tell({ kind: 'note', text: `A line of ${line.bytes} bytes is left out: it is too long` });
      this.#perform(session.takeCut(line.text));
    } else if (line.text.trim() !== '') {
      this.#drive.tools.tap?.('agent', line.text);
      this.#perform(limitEntries(session.take(line.text)));
    }
    this.#restartPause();
  }

  #perform(steps: readonly SessionStep[]): void {
    for (const step of steps) this.#performOne(step);
  }

  #performOne(step: SessionStep): void {
    switch (step.do) {
      case 'write':
        this.#write(step.line);
        break;
      case 'tell':
        this.#drive.host.tell(step.entry);
        break;
      case 'session':
        this.#drive.host.noteSession(step.id);
        break;
      case 'usage':
        this.#drive.host.noteUsage(this.#drive.session.report().usage, step.when);
        break;
      case 'file':
        this.#perform(
          this.#drive.session.takeFile?.(step.work.id, workOnFile(this.#drive.spec.cwd, step.work)) ?? [],
        );
        break;
      case 'ask':
        this.#judge(step.ask);
        break;
      case 'withdraw':
        this.#withdraw(step.ask_id);
        this.#restartIdle();
        break;
      case 'finish':
        this.#finish();
        break;
    }
  }

  /** A program that no longer reads has ended or soon will; what it says of that counts. */
  #write(line: string): void {
    this.#drive.tools.tap?.('forge', line);
    this.#supervised?.write(`${line}\n`).catch(() => {});
  }

  #judge(ask: PermissionAsk): void {
    const { spec } = this.#drive;
    const judged = decidePermission(ask, {
      policy: spec.profile.permissions,
      read_only: spec.read_only,
      cwd: spec.cwd,
      allow: spec.profile.allow,
    });
    if (judged.decision === 'ask') this.#askSomebody(ask);
    else this.#answer(ask, judged.decision, judged.decision === 'denied' ? judged.reason : '');
  }

  #askSomebody(ask: PermissionAsk): void {
    const { host } = this.#drive;
    const asking = new AbortController();
    this.#open.set(ask.id, asking);
    clearTimeout(this.#idle);
    const settle = (decision: Decision, reason: string, told?: string): void => {
      if (asking.signal.aborted || !this.#open.delete(ask.id)) return;
      this.#restartIdle();
      const { session } = this.#drive;
      this.#perform(session.answer(ask.id, decision, reason));
      if (told === undefined || session.tells_reasons) return;
      this.send(`A person has refused ${ask.command ?? ask.tool}: ${told}`).catch(() => {});
    };
    const { id, tool, input, command, paths } = ask;
    const { cwd: checkout } = this.#drive.spec;
    const cwd = ask.cwd ?? checkout;
    host.approve({ id, tool, input, command, paths, cwd, checkout, signal: asking.signal }).then(
      ({ decision, reason }) =>
        decision === 'denied'
          ? settle(
              decision,
              reason === undefined ? 'The user said no' : `The user said no: ${reason}`,
              reason,
            )
          : settle(decision, 'Nobody answered in time'),
      () => settle('expired', 'Nobody could be asked'),
    );
  }

  #withdraw(ask_id: string): void {
    this.#open.get(ask_id)?.abort();
    this.#open.delete(ask_id);
  }

  #answer(ask: PermissionAsk, decision: Decision, reason: string): void {
    const { host, session } = this.#drive;
    host.tell({
      kind: 'approval',
      id: ask.id,
      tool: ask.tool,
      decision,
      ...(ask.command !== undefined && { request: ask.command }),
    });
    this.#perform(session.answer(ask.id, decision, reason));
  }

  /** Its input is closed, at which a well-made program ends; the others are ended. */
  #finish(): void {
    if (this.#exit !== undefined) return;
    this.#finished.resolve();
    for (const id of this.#open.keys()) this.#withdraw(id);
    clearTimeout(this.#idle);
    this.#supervised?.endInput();
    const exit_ms = this.#drive.tools.limits?.exit_ms ?? LIMITS.agent_exit_ms;
    this.#exit = setTimeout(() => {
      this.#supervised?.stop().catch(() => {});
    }, exit_ms);
  }

  #restartIdle(): void {
    clearTimeout(this.#idle);
    if (this.#over || this.#exit !== undefined || this.#open.size > 0) return;
    const { idle_ms } = this.#drive.spec.limits;
    // More than 2^31 ms would be none at all.
    if (idle_ms < 2 ** 31) this.#idle = setTimeout(() => this.#giveUp(), idle_ms);
  }

  #restartPause(): void {
    const { session } = this.#drive;
    if (session.pause === undefined || this.#over) return;
    this.#pause ??= setTimeout(() => this.#perform(session.pause?.() ?? []), LIMITS.agent_pause_ms);
    this.#pause.refresh();
  }

  /** What it was saying when it ended. Where that cannot be told, how it ended still can. */
  #tellLastWords(): void {
    try {
      this.#perform(this.#drive.session.pause?.() ?? []);
    } catch {
      // The log is gone; there is nobody to tell that to.
    }
  }

  #giveUp(): void {
    this.#stop('idle').catch(() => {});
  }

  #conclude(ended: Ended, why: OurReason | undefined = this.#why): void {
    this.#tellLastWords();
    this.#over = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#exit);
    clearTimeout(this.#pause);
    for (const id of this.#open.keys()) this.#withdraw(id);
    this.#finished.resolve();
    const { session, tools, spec } = this.#drive;
    const program = spec.profile.executor;
    const now = tools.clock.now();
    this.#end.resolve(
      concludeRun({ program, report: session.report(), ended, why, now, errors_on_stderr: true }),
    );
  }
}

/** What a handler of ours threw has ended the program; there is nothing else to say of it. */
function toBroken(error: unknown): Ended {
  return {
    exit: null,
    signal: null,
    reason: 'stopped',
    error: error instanceof Error ? error.message : String(error),
    survivors: 0,
    containment: 'marker',
    stderr_tail: '',
    output_bytes: 0,
    usage: { cpu_ms: 0, max_rss: 0 },
  };
}

async function settlesWithin(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
