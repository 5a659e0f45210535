import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TranscriptEntry } from '#contract/transcript.ts';
import { openProcessHost, type ProcessHost } from '#process/process-host.ts';
import type { RunHost } from './executor.ts';
import { UNKNOWN_USAGE } from './protocols/session.ts';
import {
  agentCommand,
  findSurvivors,
  startTestRun,
  textsOf,
  told,
  type TestRun,
} from '../../tests/support/executor-run.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';

type Options = Omit<Parameters<typeof startTestRun>[0], 'processes' | 'cwd' | 'profile'> & {
  readonly permissions?: 'ask' | 'edits' | 'all';
};

let processes: ProcessHost;

beforeAll(async () => {
  processes = await openProcessHost({ accept: ['marker'] });
});

async function startAgent(
  kind: string,
  scenario: string,
  { permissions = 'edits', ...options }: Options = {},
): Promise<TestRun & AsyncDisposable & { readonly cwd: string }> {
  const folder = await tempFolder();
  const profile = { executor: kind, command: agentCommand(kind, scenario), permissions };
  const run = await startTestRun({ processes, cwd: folder.path, profile, ...options });
  return {
    ...run,
    cwd: folder.path,
    async [Symbol.asyncDispose]() {
      await run.started.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const TOKENS = { ...UNKNOWN_USAGE, input_tokens: 100, output_tokens: 20, cached_tokens: 40 };

/** The same agent in three protocols; what it does and what becomes of it must look the same. */
describe.concurrent.each(['claude', 'codex', 'acp'])('[S233] the %s executor', (kind) => {
  const start = (scenario: string, options?: Options) => startAgent(kind, scenario, options);
  /** One run of an agent that writes a file, for all that is told of it. */
  let edited: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    edited = await start('edit');
    await edited.end;
  });
  afterAll(() => edited[Symbol.asyncDispose]());

  function hasFile(run: { readonly cwd: string }): boolean {
    return existsSync(join(run.cwd, 'hello.txt'));
  }

  it('writes a file, tells what was said, thought, called and used, and leaves nothing running', async () => {
    const run = edited;
    const end = await run.end;
    expect(end).toMatchObject({ outcome: 'completed', exit_code: 0, denials: 0, survivors: 0 });
    expect(hasFile(run)).toBe(true);
    expect(run.entries[0]).toEqual({ kind: 'message', role: 'user', text: 'Write a file' });
    expect(run.entries).toContainEqual({ kind: 'message', role: 'agent', text: 'I write a file' });
    expect(textsOf(run.entries, 'thought')).toContain('hm');
    const call = run.entries.find((entry) => entry.kind === 'tool_call');
    expect(call).toBeDefined();
    const result = run.entries.find((entry) => entry.kind === 'tool_result');
    expect(result).toMatchObject({ id: call?.kind === 'tool_call' ? call.id : '', is_error: false });
    expect(approvals(run.entries)).toEqual(['allowed']);
    expect(run.asked).toEqual([]);
    expect(findSurvivors(run.spec.run_id)).toEqual([]);
    expect(run.identities).toHaveLength(1);
  });

  it('counts what was used in one way', async () => {
    const run = edited;
    const { usage } = await run.end;
    // Input with what came from the cache in it, whatever the program counts.
    expect(usage).toEqual(
      {
        claude: {
          ...TOKENS,
          input_tokens: 200,
          cached_tokens: 80,
          cost: { usd: 0.5, of: 'session' },
          model: 'claude-opus-5-5',
        },
        codex: { ...TOKENS, input_tokens: 120, output_tokens: 12, cached_tokens: 60 },
        acp: { ...TOKENS, cost: { usd: 0.5, of: 'session' } },
      }[kind],
    );
    expect(run.usages).toContainEqual({ usage, when: 'turn_end' });
  });

  it('asks a person where the profile says so, and does what was allowed', async () => {
    await using run = await start('edit', {
      permissions: 'ask',
      host: { approve: async () => ({ decision: 'allowed' }) },
    });
    expect(await run.end).toMatchObject({ outcome: 'completed', denials: 0 });
    expect(run.asked).toHaveLength(1);
    expect(hasFile(run)).toBe(true);
  });

  it.each(['denied', 'expired'] as const)(
    'ends as denied when the answer is %s, although the program exits 0',
    async (decision) => {
      await using run = await start('edit', {
        permissions: 'ask',
        host: { approve: async () => ({ decision }) },
      });
      expect(await run.end).toMatchObject({ outcome: 'denied', exit_code: 0, denials: 1 });
      expect(hasFile(run)).toBe(false);
    },
  );

  it('takes a host that cannot ask for a no', async () => {
    const approve = () => Promise.reject(new Error('the store is gone'));
    await using run = await start('edit', { permissions: 'ask', host: { approve } });
    expect(await run.end).toMatchObject({ outcome: 'denied', denials: 1 });
  });

  it('asks for commands under `edits`, and for nothing under `all`', async () => {
    await using edits = await start('command');
    expect(await edits.end).toMatchObject({ outcome: 'denied' });
    expect(edits.asked).toHaveLength(1);
    await using all = await start('command', { permissions: 'all' });
    expect(await all.end).toMatchObject({ outcome: 'completed' });
    expect(all.asked).toEqual([]);
    expect(existsSync(join(all.cwd, 'commands.txt'))).toBe(true);
  });

  it.each(['edits', 'all'] as const)(
    'asks under `%s` before a file outside is changed',
    async (permissions) => {
      await using run = await start('edit-outside', { permissions });
      expect(await run.end).toMatchObject({ outcome: 'denied', denials: 1 });
      expect(run.asked).toHaveLength(1);
    },
  );

  it('is completed when a refused agent finds a way that is allowed', async () => {
    await using run = await start('other-way');
    expect(await run.end).toMatchObject({ outcome: 'completed', denials: 1 });
    expect(hasFile(run)).toBe(true);
  });

  it('refuses every write of a run that may only look, and asks nobody', async () => {
    await using run = await start('edit', { permissions: 'all', spec: { read_only: true } });
    expect(await run.end).toMatchObject({ outcome: 'denied', denials: 1 });
    expect(run.asked).toEqual([]);
    expect(hasFile(run)).toBe(false);
  });

  it('withdraws a question that the program no longer asks', async () => {
    const approve = () => new Promise<{ decision: 'denied' }>(() => {});
    await using run = await start('asks-in-vain', { host: { approve } });
    expect(await run.end).toMatchObject({ outcome: 'completed' });
    expect(run.asked[0]?.signal.aborted).toBe(true);
  });

  it('goes on with a session, and says which one it is', async () => {
    await using run = await start('resume', { spec: { session: { id: 'before-1', resume: true } } });
    const end = await run.end;
    expect(end).toMatchObject({ outcome: 'completed' });
    expect(textsOf(run.entries, 'message').at(-1)).toBe('I go on with before-1');
    expect(run.sessions.filter((id) => id !== 'before-1')).toEqual([]);
    // What earlier runs of the session used or said is not this one's.
    expect(textsOf(run.entries, 'message')).not.toContain('from long ago');
    expect(end.usage.input_tokens).toBe({ claude: 100, codex: 120, acp: null }[kind]);
  });

  it('tells the name of a new session where the program did not take ours', async () => {
    await using run = await start('resume');
    await run.end;
    expect(run.sessions).toEqual({ claude: [], codex: ['thread-of-codex'], acp: ['session-of-acp'] }[kind]);
  });

  it('returns an answer by schema', async () => {
    const output_schema = { type: 'object', properties: { verdict: { type: 'string' } } };
    await using run = await start('answer', { spec: { output_schema } });
    expect(await run.end).toMatchObject({ outcome: 'completed', structured: { verdict: 'pass' } });
    // Only where the protocol knows no schema it is put into the prompt.
    const says = textsOf(run.entries, 'message').includes('The prompt names the schema');
    expect(says).toBe(kind === 'acp');
  });

  it('takes none after the end', async () => {
    expect(await edited.started.send('more')).toBe(false);
  });

  it('reads on behind lines that are none of the protocol', async () => {
    await using run = await start('malformed');
    expect(await run.end).toMatchObject({ outcome: 'completed' });
    expect(textsOf(run.entries, 'output')).toContain('Welcome to the agent!');
    expect(hasFile(run)).toBe(true);
  });

  it('leaves out a giant line, and refuses a request that is too long to be judged', async () => {
    await using run = await start('giant', { permissions: 'all' });
    expect(await run.end).toMatchObject({ denials: 1, last_message: expect.any(String) });
    expect(textsOf(run.entries, 'message')).toContain('I was refused');
    expect(textsOf(run.entries, 'note').filter((text) => text.includes('too long'))).toHaveLength(2);
    expect(Math.max(...run.entries.map((entry) => JSON.stringify(entry).length))).toBeLessThan(1_000_000);
  });

  it('has failed when the program ends before it is done, with its last words', async () => {
    await using run = await start('early-exit');
    expect(await run.end).toMatchObject({
      outcome: 'failed',
      exit_code: 3,
      message: `${kind} ended with exit code 3 before it was done: Segmentation fault`,
    });
  });

  it('knows a program that nobody has logged in', async () => {
    await using run = await start('not-logged-in');
    expect(await run.end).toMatchObject({ outcome: 'auth', exit_code: 1 });
  });

  it('waits at a usage limit, until the time that the provider named', async () => {
    await using run = await start('usage-limit');
    expect(await run.end).toMatchObject({
      outcome: 'usage_limit',
      retry_after: kind === 'acp' ? '2026-01-01T00:01:30.000Z' : '2026-01-01T01:00:00.000Z',
    });
  });

  it.each(['overload', 'network'])('[A16] knows a provider that cannot be used: %s', async (scenario) => {
    await using run = await start(scenario);
    expect(await run.end).toMatchObject({ outcome: 'unavailable' });
  });

  it('needs a person where the key is wrong', async () => {
    await using run = await start('auth');
    const end = await run.end;
    expect(end).toMatchObject({ outcome: 'auth' });
    expect(end.retry_after).toBeUndefined();
  });

  it('does not take what the agent says about limits for a limit', async () => {
    await using run = await start('talks-of-limits');
    expect(await run.end).toMatchObject({ outcome: 'failed' });
  });

  it.each(['interruptible', 'stubborn'])(
    'stops a program that is %s, with all it started',
    async (scenario) => {
      await using run = await start(scenario, { limits: { interrupt_ms: 300 } });
      await told(run, (entry) => entry.kind === 'message' && entry.text === 'working');
      expect(findSurvivors(run.spec.run_id).length).toBeGreaterThan(1);
      await Promise.all([run.started.stop(), run.started.stop()]);
      expect(await run.end).toMatchObject({ outcome: 'stopped', survivors: 0 });
      expect(findSurvivors(run.spec.run_id)).toEqual([]);
    },
  );

  it('ends a program that has done its work and does not go, and believes what it said', async () => {
    await using run = await start('lingering', { limits: { exit_ms: 300 } });
    expect(await run.end).toMatchObject({ outcome: 'completed', survivors: 0 });
    expect(findSurvivors(run.spec.run_id)).toEqual([]);
  });

  it('gives up on a program that says nothing', async () => {
    const limits = { total_ms: 60_000, idle_ms: 300, output_bytes: 1_000_000 };
    await using run = await start('silent', { spec: { limits } });
    expect(await run.end).toMatchObject({ outcome: 'timeout', message: `${kind} said nothing for too long` });
  });

  it('ends what takes too long, or writes too much', async () => {
    await using slow = await start('silent', {
      spec: { limits: { total_ms: 300, idle_ms: 60_000, output_bytes: 1_000_000 } },
    });
    expect(await slow.end).toMatchObject({ outcome: 'timeout', message: `${kind} took too long` });
    await using loud = await start('giant', {
      spec: { limits: { total_ms: 60_000, idle_ms: 60_000, output_bytes: 100_000 } },
    });
    expect(await loud.end).toMatchObject({
      outcome: 'failed',
      message: expect.stringContaining('wrote more'),
    });
  });

  it('starts nothing where there is no such program', async () => {
    await using folder = await tempFolder();
    const profile = { executor: kind, command: ['/nowhere/agent'] };
    await expect(startTestRun({ processes, cwd: folder.path, profile })).rejects.toMatchObject({
      code: 'dependency_missing',
    });
  });

  it('ends a program again that could not be noted', async () => {
    await using folder = await tempFolder();
    const run_id = crypto.randomUUID();
    const noteProcess = () => Promise.reject(new Error('the store is gone'));
    const profile = { executor: kind, command: agentCommand(kind, 'edit') };
    await expect(
      startTestRun({ processes, cwd: folder.path, profile, spec: { run_id }, host: { noteProcess } }),
    ).rejects.toThrow('the store is gone');
    expect(findSurvivors(run_id)).toEqual([]);
    expect(existsSync(join(folder.path, 'hello.txt'))).toBe(false);
  });
});

describe.concurrent('a further message', () => {
  it.each(['claude', 'codex'])('reaches %s while it works', async (kind) => {
    await using run = await startAgent(kind, 'echo');
    await told(run, (entry) => entry.kind === 'message' && entry.text === 'ready');
    expect(await run.started.send('hurry')).toBe(true);
    expect(await run.end).toMatchObject({ outcome: 'completed' });
    expect(textsOf(run.entries, 'message')).toContain('You said hurry');
    expect(run.entries).toContainEqual({ kind: 'message', role: 'user', text: 'hurry' });
  });

  it.each(['claude', 'codex', 'acp'])(
    '[A9] to %s while it writes its answer gets one, and what that asks',
    async (kind) => {
      await using run = await startAgent(kind, kind === 'codex' ? 'two-turns' : 'late-message');
      // The others begin with it when the turn at work is over, whenever it came.
      if (kind === 'claude')
        await told(run, (entry) => entry.kind === 'message' && entry.text === 'my answer');
      expect(await run.started.send('and then')).toBe(true);
      expect(await run.end).toMatchObject({ outcome: 'completed', denials: 0, unheard: undefined });
      expect(textsOf(run.entries, 'message')).toContain('You said and then');
      expect(existsSync(join(run.cwd, 'hello.txt'))).toBe(kind !== 'codex');
    },
  );

  it.each(['claude', 'codex', 'acp'])(
    'to %s that is over is refused, and stays for the next prompt',
    async (kind) => {
      await using run = await startAgent(kind, 'edit');
      await run.end;
      expect(await run.started.send('too late')).toBe(false);
      expect(run.started.unheard()).toEqual([]);
    },
  );

  it.each(['codex', 'acp'])('gets a turn of its own from %s where none can take it', async (kind) => {
    await using run = await startAgent(kind, 'two-turns');
    // Before the program is even up.
    expect(await run.started.send('and then')).toBe(true);
    expect(await run.end).toMatchObject({ outcome: 'completed' });
    expect(textsOf(run.entries, 'message')).toContain('You said and then');
  });
});

describe.concurrent('an agent that has files written by its client', () => {
  const PATHS = ['by-client.txt', '../outside.txt', '.git/hooks/x'];

  it('gets those of the checkout by the rules of an edit, and no other', async () => {
    await using run = await startAgent('acp', 'client-files', {
      host: { approve: async () => ({ decision: 'allowed' }) },
    });
    expect(await run.end).toMatchObject({ outcome: 'completed' });
    expect(textsOf(run.entries, 'message').slice(1)).toEqual([
      'by-client.txt: from the client',
      expect.stringContaining('is not in the checkout'),
      expect.stringContaining('is not in the checkout'),
    ]);
    // The first needs nobody; for what is outside a person was asked.
    expect(run.asked.map(({ tool }) => tool)).toEqual(['fs/write_text_file', 'fs/write_text_file']);
    expect(PATHS.map((path) => existsSync(join(run.cwd, path)))).toEqual([true, false, false]);
  });

  it.each([
    ['a person says no', { permissions: 'ask' as const }],
    ['the run may only look', { spec: { read_only: true } }],
  ])('gets none where %s', async (_why, options) => {
    await using run = await startAgent('acp', 'client-files', options);
    await run.end;
    expect(textsOf(run.entries, 'message')[1]).toContain('was not allowed');
    expect(PATHS.map((path) => existsSync(join(run.cwd, path)))).toEqual([false, false, false]);
  });
});

describe.concurrent('a program that asks', () => {
  /** In the shell, because it starts at once whatever else the machine does. */
  const ASKS = `
    read hello; read prompt
    echo '{"type":"control_request","request_id":"1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}'
    read answer
    echo '{"type":"result","is_error":false,"result":"done"}'
  `;

  async function startAsking(script: string, approve: RunHost['approve']) {
    const folder = await tempFolder();
    const run = await startTestRun({
      processes,
      cwd: folder.path,
      profile: { executor: 'claude', command: ['/bin/sh', '-c', script], permissions: 'ask' },
      host: { approve },
      limits: { interrupt_ms: 100 },
    });
    return { ...run, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
  }

  it('is stopped while a person thinks, and the question is withdrawn', async () => {
    await using run = await startAsking(
      ASKS.replace('read answer', 'sleep 600'),
      () => new Promise(() => {}),
    );
    while (run.asked.length === 0) await new Promise((next) => setTimeout(next, 5));
    await run.started.stop();
    expect(await run.end).toMatchObject({ outcome: 'stopped' });
    expect(run.asked[0]?.signal.aborted).toBe(true);
  });

  it('ends its run when Forge itself fails while it listens', async () => {
    await using folder = await tempFolder();
    const run = await startTestRun({
      processes,
      cwd: folder.path,
      profile: { executor: 'claude', command: ['/bin/sh', '-c', 'read a; echo hello; sleep 600'] },
      host: {
        tell(entry) {
          if (entry.kind === 'output') throw new Error('the log is gone');
        },
      },
    });
    expect(await run.end).toMatchObject({
      outcome: 'failed',
      message: 'Forge could not listen: the log is gone',
    });
    expect(findSurvivors(run.spec.run_id)).toEqual([]);
  });
});

function approvals(entries: readonly TranscriptEntry[]): readonly string[] {
  return entries.flatMap((entry) => (entry.kind === 'approval' ? [entry.decision] : []));
}

describe.concurrent('what a program is given and leaves', () => {
  /** In the shell, which starts at once. */
  async function runShell(executor: string, script: string) {
    await using folder = await tempFolder();
    const command = ['/bin/sh', '-c', script];
    const tapped: string[] = [];
    const tap = (from: string) => tapped.push(from);
    const run = await startTestRun({ processes, cwd: folder.path, profile: { executor, command }, tap });
    return { end: await run.end, entries: run.entries, tapped };
  }

  it('a folder of its own for temporary files, where Codex lets commands write, until the end of the run', async () => {
    const { entries } = await runShell('codex', 'ls -d "$TMPDIR"');
    const [folder = ''] = textsOf(entries, 'output');
    expect(folder).toContain('forge-codex-');
    expect(existsSync(folder)).toBe(false);
  });

  it('its last words, although it ended in the middle of them', async () => {
    const update = {
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'text', text: 'I was about to' },
    };
    const { end, entries, tapped } = await runShell(
      'acp',
      `read line; echo '{"id":1,"result":{}}'; read line; echo '{"id":2,"result":{"sessionId":"s"}}'; read line
       echo '${JSON.stringify({ method: 'session/update', params: { update } })}'; exit 3`,
    );
    expect(end).toMatchObject({ outcome: 'failed', exit_code: 3, last_message: 'I was about to' });
    expect(textsOf(entries, 'message')).toContain('I was about to');
    expect(tapped).toEqual(['forge', 'agent', 'forge', 'agent', 'forge', 'agent']);
  });
});
