import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openProcessHost } from '#process/process-host.ts';
import { startTestRun } from '../../tests/support/executor-run.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import type { RunHost } from './executor.ts';

/** Longer than a test may take, so that only the clock that is set can bring it about. */
const IDLE_MS = 600_000;

/** In the shell, because it starts at once whatever else the machine does. */
const ASKS = `
  read hello; read prompt
  echo '{"type":"control_request","request_id":"1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}'
`;
const SPEAKS = `echo 'I wait' >&2;`;
const IS_DONE = `echo '{"type":"result","is_error":false,"result":"done"}'`;

// The time of this process stands until a test moves it; the program has its own.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

async function start(script: string, cwd: string) {
  const [asked, spoke] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const answer = Promise.withResolvers<Awaited<ReturnType<RunHost['approve']>>>();
  const run = await startTestRun({
    processes: await openProcessHost({ accept: ['marker'] }),
    cwd,
    profile: { executor: 'claude', command: ['/bin/sh', '-c', script], permissions: 'ask' },
    spec: { limits: { total_ms: 1e9, idle_ms: IDLE_MS, output_bytes: 1_000_000 } },
    host: {
      approve() {
        asked.resolve();
        return answer.promise;
      },
      tell(entry) {
        if (entry.kind === 'output') spoke.resolve();
      },
    },
  });
  const allow = () => answer.resolve({ decision: 'allowed' });
  return { ...run, asked: asked.promise, spoke: spoke.promise, allow };
}

describe('a program that asks', () => {
  it.each([
    ['says nothing more', ''],
    ['goes on to speak', SPEAKS],
  ])('may be silent for as long as a person thinks, also where it %s', async (_how, more) => {
    await using folder = await tempFolder();
    const run = await start(`${ASKS} ${more} read more; read answer; ${IS_DONE}`, folder.path);
    await run.asked;
    if (more !== '') await run.spoke;
    vi.advanceTimersByTime(2 * IDLE_MS);
    // Nothing more is sent to a program that is being stopped.
    expect(await run.started.send('Take your time')).toBe(true);
    vi.useRealTimers();
    run.allow();
    expect(await run.end).toMatchObject({ outcome: 'completed' });
  });

  it('may be silent for no longer than others once it has its answer', async () => {
    await using folder = await tempFolder();
    const run = await start(`${ASKS} read answer; sleep 600`, folder.path);
    await run.asked;
    run.allow();
    // All that follows from the answer in this process.
    await new Promise(setImmediate);
    vi.advanceTimersByTime(IDLE_MS);
    vi.useRealTimers();
    expect(await run.end).toMatchObject({ outcome: 'timeout' });
  });
});
