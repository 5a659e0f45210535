import { spawn } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { AcpDialect } from './executor-acp-dialect.ts';
import { ClaudeDialect } from './executor-claude-dialect.ts';
import { CodexDialect } from './executor-codex-dialect.ts';
import { Wire, type Dialect } from './executor-wire.ts';

/**
 * A coding agent without a model: `node executor-agent.ts <dialect> <scenario> …`. What it does in each scenario is
 * the same in every protocol.
 */
type Scenario = (agent: Dialect) => Promise<void> | void;

const WISH = { write: 'hello.txt' };

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  async edit(agent) {
    await work(agent);
    agent.finish();
  },
  async 'edit-outside'(agent) {
    await agent.open();
    agent.report({ write: '../outside.txt' }, await agent.ask({ write: '../outside.txt' }));
    agent.finish();
  },
  async command(agent) {
    await agent.open();
    const allowed = await agent.ask({ run: 'make test' });
    if (allowed) appendFileSync('commands.txt', 'make test\n');
    agent.report({ run: 'make test' }, allowed);
    agent.finish();
  },
  /** Refused, and does it in a way that is allowed. */
  async 'other-way'(agent) {
    await agent.open();
    agent.report({ run: 'echo > hello.txt' }, await agent.ask({ run: 'echo > hello.txt' }));
    await edit(agent);
    agent.finish();
  },
  async resume(agent) {
    const { resumed } = await agent.open();
    agent.say(`I go on with ${resumed ?? 'nothing'}`);
    agent.finish();
  },
  async answer(agent) {
    const { prompt } = await agent.open();
    agent.say(prompt.includes('JSON schema') ? 'The prompt names the schema' : 'No schema in the prompt');
    agent.finish({ answer: { verdict: 'pass' } });
  },
  async echo(agent) {
    await agent.open();
    agent.say('ready');
    agent.say(`You said ${await agent.nextMessage()}`);
    agent.finish();
  },
  async 'two-turns'(agent) {
    await agent.open();
    agent.finish();
    agent.say(`You said ${await agent.nextTurn()}`);
    agent.finish();
  },
  /** A message comes while it writes its answer, and the turn of that message asks for something. */
  async 'late-message'(agent) {
    await agent.open();
    agent.say('my answer');
    await agent.queue?.();
    agent.finish();
    agent.say(`You said ${await agent.nextTurn()}`);
    await edit(agent);
    agent.finish();
  },
  /** Uses more and more until it is stopped. */
  async spender(agent) {
    await agent.open();
    agent.interrupted().then(
      () => process.exit(0),
      () => {},
    );
    for (let at = 0; ; at += 1) {
      agent.say(`spending ${at}`);
      agent.spend?.();
      await new Promise((next) => setTimeout(next, 20));
    }
  },
  /** Writes by asking its client for it. */
  async 'client-files'(agent) {
    await agent.open();
    for (const path of ['by-client.txt', '../outside.txt', '.git/hooks/x'])
      agent.say(`${path}: ${(await agent.askClient?.(path, 'from the client')) ?? 'cannot'}`);
    agent.finish();
  },
  async 'asks-in-vain'(agent) {
    await agent.open();
    agent.askInVain({ run: 'make test' });
    agent.say('never mind');
    agent.finish();
  },
  async malformed(agent) {
    process.stdout.write(
      'Welcome to the agent!\n{"type":\n[1,2]\nnull\n\u0000\u0001\n{"id":"nobody","result":{}}\n',
    );
    await work(agent);
    process.stdout.write('{"method":"what/is/this","params":7}\n{"type":"surprise"}\n');
    agent.finish();
  },
  async giant(agent) {
    await agent.open();
    process.stdout.write(`${'y'.repeat(9_000_000)}\n`);
    // Too long to be read: it must be refused, or this waits forever.
    const allowed = await agent.ask({ write: 'hello.txt', padding: 9_000_000 });
    agent.say(allowed ? 'I was allowed' : 'I was refused');
    agent.finish();
  },
  async 'early-exit'(agent) {
    await agent.open();
    process.stderr.write('warming up\nSegmentation fault\n');
    process.exit(3);
  },
  'not-logged-in'() {
    process.stderr.write('Invalid API key · Please run /login\n');
    process.exit(1);
  },
  async silent(agent) {
    await agent.open();
    await forever();
  },
  /** Ends its turn when it is told to, and leaves a child behind that does not. */
  async interruptible(agent) {
    await agent.open();
    leaveChild();
    agent.say('working');
    await agent.interrupted();
  },
  async stubborn(agent) {
    await agent.open();
    process.on('SIGTERM', () => {});
    leaveChild();
    agent.say('working');
    await forever();
  },
  /** Its work is done and it does not go. */
  async lingering(agent) {
    await work(agent);
    leaveChild();
    agent.finish();
    await forever();
  },
  async 'usage-limit'(agent) {
    await agent.open();
    agent.fail('limit');
  },
  async overload(agent) {
    await agent.open();
    agent.fail('overload');
  },
  async network(agent) {
    await agent.open();
    agent.fail('network');
  },
  async auth(agent) {
    await agent.open();
    agent.fail('auth');
  },
  /** Talks about limits and then fails for another reason: what an agent says is no error of the provider. */
  async 'talks-of-limits'(agent) {
    await agent.open();
    agent.say('The API answers 429: usage limit reached, please log in');
    agent.fail('crash');
  },
};

function createDialect(name: string, argv: readonly string[]): Dialect {
  const wire = new Wire();
  if (name === 'claude') return new ClaudeDialect(wire, argv);
  return name === 'codex' ? new CodexDialect(wire) : new AcpDialect(wire);
}

async function work(agent: Dialect): Promise<void> {
  await agent.open();
  agent.say('I write a file');
  await edit(agent);
}

async function edit(agent: Dialect): Promise<void> {
  const allowed = await agent.ask(WISH);
  if (allowed) writeFileSync('hello.txt', 'hello');
  agent.report(WISH, allowed);
}

function leaveChild(): void {
  spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref();
}

function forever(): Promise<never> {
  setInterval(() => {}, 1_000);
  return new Promise(() => {});
}

const [, , dialect = '', scenario = '', ...rest] = process.argv;
const play = SCENARIOS[scenario];
if (play === undefined) throw new Error(`no scenario ${scenario}`);
process.stdin.on('end', () => process.stdin.destroy());
await play(createDialect(dialect, rest));
