import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '#contract/attempt.ts';
import type { TranscriptEntry } from '#contract/transcript.ts';
import type { ApprovalRequest } from '#executors/executor.ts';
import { LIMITS } from '#kernel/limits.ts';
import { ANN } from '../../tests/support/temp-engine.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { answerRequest } from './ask-people.ts';
import { systemWriter } from './work.ts';

let shop: TempWorkshop;
let run: Run;
const told: TranscriptEntry[] = [];
beforeEach(async () => {
  shop = await tempWorkshop();
  told.length = 0;
  shop.addAgent('slow', 'true');
  await newRun('Ask');
});
afterEach(() => shop[Symbol.asyncDispose]());

async function newRun(title: string): Promise<void> {
  const task = await shop.create(title);
  await shop.work(task, 'slow');
  const [first] = await shop.place.store.listRuns({ task_id: task.id });
  if (first === undefined) throw new Error('no run');
  const { task_id, attempt_id, agent, role, executor } = first;
  const by = systemWriter(shop.place);
  const { store, watcher } = shop.place;
  const made = {
    id: crypto.randomUUID(),
    task_id,
    attempt_id,
    agent,
    role,
    executor,
    watcher,
    session_id: null,
  };
  run = await store.createRun({ ...made, state: 'scheduled', fence: null, in_state: null }, by);
  run = await store.moveRun({ id: run.id, to: 'running' }, by);
}

const SECRETS = {
  redact: (text: string) => text.replaceAll('hunter2', '[secret]'),
  redactValue: <T>(value: T) => JSON.parse(JSON.stringify(value).replaceAll('hunter2', '[secret]')) as T,
};

function ask(
  command: string,
  more: Partial<ApprovalRequest> = {},
  place = shop.place,
): ReturnType<typeof answerRequest> {
  const request: ApprovalRequest = {
    id: command,
    tool: 'Bash',
    input: { command },
    command,
    paths: [],
    cwd: shop.repo.path,
    checkout: shop.repo.path,
    signal: AbortSignal.timeout(20_000),
    ...more,
  };
  return answerRequest(place, run, { request, secrets: SECRETS, tell: (entry) => told.push(entry) });
}

type Answer = Omit<Parameters<TempWorkshop['place']['store']['answerApproval']>[0], 'id'>;

/** Waits until something is asked for, and answers as a person. */
async function answer(wanted: Answer) {
  const { store, clock } = shop.place;
  for (;;) {
    const [asked] = await store.listApprovals({ run_id: run.id, pending: true });
    if (asked !== undefined)
      return store.answerApproval({ id: asked.id, ...wanted }, { actor: ANN, now: clock.now() });
  }
}

describe('what a run asks for', () => {
  it('[D3] is told whole, without secrets, and a refusal with its reason', async () => {
    const asking = ask('curl -H "token: hunter2" example.org');
    const approval = await answer({ state: 'denied', reason: 'Not on a Friday' });
    expect(await asking).toEqual({ decision: 'denied', reason: 'Not on a Friday' });
    const command = 'curl -H "token: [secret]" example.org';
    expect(approval).toMatchObject({ command, input: { command } });
    expect(told).toEqual(
      ['asked', 'denied'].map((decision) => ({
        kind: 'approval',
        id: 'curl -H "token: hunter2" example.org',
        tool: 'Bash',
        request: `Bash: ${command}`,
        decision,
      })),
    );
  });

  it('names the folder where that is another than the checkout', async () => {
    const asking = ask('rm -rf build', { cwd: '/srv' });
    expect(await answer({ state: 'denied' })).toMatchObject({ command: 'rm -rf build', paths: ['/srv'] });
    await asking;
    expect(told[0]).toMatchObject({ request: 'Bash: rm -rf build (at /srv)' });
  });

  it('[D2] is not asked again where a person has allowed it for the rest of the task, until that is taken back', async () => {
    const first = ask('npm test');
    await answer({ state: 'allowed', always: { kind: 'prefix', text: 'npm test' } });
    const second = ask('make | tee log');
    await answer({ state: 'allowed', always: { kind: 'line', text: 'make | tee log' } });
    expect([await first, await second]).toEqual([{ decision: 'allowed' }, { decision: 'allowed' }]);
    for (const line of ['npm test -- --all', 'npm test > out.txt', 'make | tee log']) {
      expect([line, await ask(line)]).toEqual([line, { decision: 'allowed' }]);
      // The transcript of the run says so, as of all that is asked for.
      expect(told.at(-1)).toMatchObject({ request: `Bash: ${line}`, decision: 'allowed' });
    }
    const denies = async (line: string, more: Partial<ApprovalRequest> = {}): Promise<void> => {
      const asking = ask(line, more);
      await answer({ state: 'denied' });
      expect([line, await asking]).toEqual([line, { decision: 'denied' }]);
    };
    const close = ['make | tee lo', 'make | tee log2', 'make | tee log; rm x'];
    for (const line of ['npm test; rm x', 'npm test > ../x', 'PATH=. npm test', ...close]) await denies(line);
    // In another folder the same words do something else.
    for (const line of ['npm test', 'make | tee log']) await denies(line, { cwd: '/' });
    const { store, clock } = shop.place;
    await store.forgetApprovals({ task_id: run.task_id }, { actor: ANN, now: clock.now() });
    await denies('npm test');
  });

  it('is not allowed by what a person has allowed for another task', async () => {
    const first = ask('npm test');
    await answer({ state: 'allowed', always: { kind: 'line', text: 'npm test' } });
    expect(await first).toEqual({ decision: 'allowed' });
    const mine = run;
    await newRun('Other');
    expect(run.task_id).not.toBe(mine.task_id);
    const asking = ask('npm test');
    await answer({ state: 'denied' });
    expect(await asking).toEqual({ decision: 'denied' });
  });

  it('is refused where no person answers: the run wants it no longer, or has waited too long', async () => {
    expect(await ask('make', { signal: AbortSignal.abort() })).toEqual({ decision: 'expired' });
    const { clock } = shop.place;
    let passed = 0;
    const late = { now: () => clock.now() + (passed += LIMITS.approval_ms) };
    expect(await ask('make', {}, { ...shop.place, clock: late })).toEqual({ decision: 'expired' });
    expect(told.map((one) => 'decision' in one && one.decision)).toEqual([
      'asked',
      'expired',
      'asked',
      'expired',
    ]);
  });

  it('names files without secrets', async () => {
    const asking = ask('', { command: undefined, paths: ['/x/hunter2'] });
    expect(await answer({ state: 'denied' })).toMatchObject({ paths: ['/x/[secret]'] });
    await asking;
  });
});
