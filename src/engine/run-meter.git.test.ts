import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { NO_USAGE, type SaidUsage } from '#domain/count-usage.ts';
import { agentCommand } from '../../tests/support/executor-run.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { openRunMeter } from './run-meter.ts';
import { SentMessages } from './sent-messages.ts';
import { dispatchTasks } from './dispatch-tasks.ts';
import type { WorkNews } from './work.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

/** An agent that speaks a CLI's protocol and does what the scenario says. */
function addAgent(name: string, executor: string, scenario: string): void {
  shop.addAgent(name, '', {
    profile: { executor, command: agentCommand(executor, scenario), permissions: 'all' },
    env: { CLAUDE_DIALECT_HOME: shop.place.home },
  });
}

async function addScript(name: string, steps: readonly object[]): Promise<void> {
  const file = join(shop.place.home, `${name}.json`);
  await writeFile(file, JSON.stringify({ trajectories: [{ steps }] }));
  shop.addAgent(name, '', { profile: { executor: 'script', command: [file], permissions: 'all' } });
}

const runsOf = ({ id }: Task): Promise<Run[]> => shop.place.store.listRuns({ task_id: id });
const notes = (): string[] => shop.news.flatMap((one) => (one.kind === 'note' ? [one.text] : []));

describe('[A12] what a run has cost', () => {
  it('is counted once in a session that is gone on with', async () => {
    addAgent('claudia', 'claude', 'edit');
    // Rejected again and again, so that the same session works on it.
    const task = await shop.create('Never right', { steps: ['false'] });
    await shop.work(task, 'claudia');
    const runs = await runsOf(task);
    expect(new Set(runs.map(({ session_id }) => session_id)).size).toBe(1);
    expect(runs.length).toBeGreaterThan(1);
    expect(runs.map(({ usage }) => usage.cost_usd)).toEqual(runs.map(() => 0.5));
    expect(runs.at(-1)?.usage).toMatchObject({
      cost_source: 'reported',
      session_cost_usd: runs.length * 0.5,
    });
  });

  it('is an estimate by the list, by a price of the person, or unknown', async () => {
    const usage = { input_tokens: 1_000_000, output_tokens: 0 };
    await addScript('listed', [
      { write: { path: 'a', text: 'a' } },
      { usage: { ...usage, model: 'gpt-5.5' } },
    ]);
    await addScript('unlisted', [
      { write: { path: 'b', text: 'b' } },
      { usage: { ...usage, model: 'mine' } },
    ]);
    const [listed, unlisted] = [await shop.create('Listed'), await shop.create('Unlisted')];
    await shop.work(listed, 'listed');
    await shop.work(unlisted, 'unlisted');
    expect((await runsOf(listed))[0]?.usage).toMatchObject({ cost_usd: 5, cost_source: 'estimated' });
    expect((await runsOf(unlisted))[0]?.usage).toMatchObject({ cost_usd: null, cost_source: null });
  });
});

describe('[A12] a cap', () => {
  it.each([
    [
      'claude',
      { caps: { run_usd: 0.01 } },
      /^The cap of the run is reached: \$0\.0\d+ of \$0\.0100; .*caps\.run_usd 0\.0\d+ /,
    ],
    ['codex', { caps: { task_tokens: 500 } }, /^The cap of the task is reached: \d+ of 500 tokens; /],
    ['codex', { scheduler: { budget_tokens: 500 } }, /^The cap of the last 24 hours is reached: /],
    [
      'acp',
      { caps: { project_minutes: 0.001 } },
      /^The cap of the project is reached: 0 of 0\.001 minutes; /,
    ],
  ])('stops %s in its middle, by %o', async (executor, settings, message) => {
    addAgent('spender', executor, 'spender');
    shop.set(settings);
    const task = await shop.create('Costly');
    const { state, error_annotation } = await shop.work(task, 'spender');
    const [run] = await runsOf(task);
    expect(run).toMatchObject({
      outcome: 'cap_reached',
      state: 'blocked',
      message: expect.stringMatching(message),
    });
    // It is nobody's failure: the task waits where it is for a person.
    expect([state, error_annotation?.code]).toEqual(['in_progress', 'cap_reached']);
    expect(error_annotation?.message).toContain(`&& forge run ${task.id} --agent spender`);
  });

  it('that a run reached which says that it is done and has changed nothing keeps the task for a person', async () => {
    await addScript('idle', [{ usage: { cost_usd: 3 } }]);
    shop.set({ caps: { run_usd: 2 } });
    const task = await shop.create('Idle');
    const { state, error_annotation } = await shop.work(task, 'idle');
    expect((await runsOf(task)).map(({ outcome }) => outcome)).toEqual(['cap_reached']);
    expect([state, error_annotation?.code]).toEqual(['in_progress', 'cap_reached']);
  });

  it('that is reached lets nothing be started, and raised lets it go on', async () => {
    await addScript('w1', [{ write: { path: 'a', text: 'a' } }, { usage: { cost_usd: 2 } }]);
    shop.set({ caps: { task_usd: 2 } });
    const task = await shop.create('Twice', { steps: ['false'] });
    const first = await shop.work(task, 'w1');
    expect((await runsOf(task)).map(({ outcome }) => outcome)).toEqual(['completed', 'cap_reached']);
    expect(first.error_annotation?.message).toContain('$2.00 of $2.00');
    shop.set({ caps: { task_usd: 100 }, scheduler: { retry_limit: 1 } });
    await shop.workshop.resume(await shop.place.store.getTask(task.id), 'w1');
    await shop.workshop.settled();
    expect((await runsOf(task)).length).toBeGreaterThan(2);
  });

  it('of the project halts dispatch', async () => {
    await addScript('w1', [{ write: { path: 'a', text: 'a' } }, { usage: { cost_usd: 2 } }]);
    shop.set({ caps: { project_usd: 2 } });
    const tasks = [await shop.create('One'), await shop.create('Two')];
    const told: string[] = [];
    shop.set({ scheduler: { max: 1 } });
    await dispatchTasks(shop.workshop, { merge: false, until_empty: true, tell: (line) => told.push(line) });
    expect(told).toEqual([
      'The budget is spent ($2.00 of $2.00 in all): nothing more is started; to raise it: forge settings set caps.project_usd 4',
    ]);
    const runs = await Promise.all(tasks.map(runsOf));
    expect(runs.flat()).toHaveLength(1);
  });

  it('in USD that cannot stop an agent is told, once a run', async () => {
    addAgent('codie', 'codex', 'edit');
    shop.set({ scheduler: { budget_usd: 0.002 } });
    const task = await shop.create('Unknown');
    await shop.work(task, 'codie');
    expect(notes()).toEqual([
      'The cost of codie is unknown: the cap in USD cannot stop it; budget_tokens can',
    ]);
    expect((await runsOf(task))[0]?.outcome).toBe('completed');
  });

  it('in tokens that cannot stop an agent is told too', async () => {
    shop.addAgent('sh', 'echo x > x');
    shop.set({ caps: { run_tokens: 5 } });
    await shop.work(await shop.create('Shell'), 'sh');
    expect(notes()).toEqual([
      'What sh uses is unknown: no cap in USD or tokens can stop it; budget_minutes can',
    ]);
  });
});

/** A run at work on the task, in an attempt of its own. */
async function newRun({ id: task_id }: Task): Promise<Run> {
  const { store, watcher } = shop.place;
  const { by } = shop.as();
  const id = crypto.randomUUID();
  const attempt = { id, task_id, name: `a-${id}`, path: `/none/${id}`, target: 'main' };
  const place = { base_commit: shop.repo.git('rev-parse', 'HEAD'), agent: 'w1', port: null };
  await store.startAttempt({ ...attempt, ...place }, by);
  const made = { id: crypto.randomUUID(), task_id, attempt_id: id, agent: 'w1', role: 'coder' };
  const how = { executor: 'script', fence: null, in_state: null, session_id: null, watcher };
  const run = await store.createRun({ ...made, ...how, state: 'scheduled' }, by);
  return store.moveRun({ id: run.id, to: 'running' }, by);
}

const said = (usd: number): SaidUsage => ({
  input_tokens: 10,
  output_tokens: 5,
  cached_tokens: 0,
  cost: { usd, of: 'run' },
  since_cost: null,
  model: 'mine',
});

describe('[A12] what counts against a cap', () => {
  const meter = (run: Run) => openRunMeter(shop.place, { run, tell: () => undefined });

  it('is what the run used, once, what other attempts of its task did, and nothing of other tasks', async () => {
    const [task, other] = [await shop.create('One'), await shop.create('Other')];
    const [own, side, far] = [await newRun(task), await newRun(task), await newRun(other)];
    shop.set({ caps: { task_usd: 3 } });
    const counting = await meter(own);
    counting.note(said(1.5), 'working');
    (await meter(far)).note(said(50), 'working');
    // It is kept while the run is at work, so that others count it.
    await until(async () => ((await runsOf(task))[0]?.usage.cost_usd === 1.5 ? true : undefined));
    await until(async () => ((await runsOf(other))[0]?.usage.cost_usd === 50 ? true : undefined));
    await counting.refresh();
    expect(counting.findReached()).toBeUndefined();
    (await meter(side)).note(said(1.5), 'working');
    await until(async () => ((await runsOf(task))[1]?.usage.cost_usd === 1.5 ? true : undefined));
    await counting.refresh();
    expect(counting.findReached()).toContain('$3.00 of $3.00');
  });

  it('is told in the log of the run at the end of a turn, and not before', async () => {
    const told: unknown[] = [];
    const own = await newRun(await shop.create('One'));
    const counting = await openRunMeter(shop.place, { run: own, tell: (entry) => void told.push(entry) });
    counting.note(said(1), 'working');
    expect(told).toEqual([]);
    counting.note(said(1.5), 'turn_end');
    expect(told).toMatchObject([{ kind: 'usage', usage: { cost_usd: 1.5 } }]);
  });

  it('is what all tasks used in the last 24 hours, and before that nothing', async () => {
    const [task, other] = [await shop.create('One'), await shop.create('Other')];
    const [far, own] = [await newRun(other), await newRun(task)];
    await shop.place.store.noteRun({ id: far.id, usage: { ...NO_USAGE, cost_usd: 2 } });
    shop.set({ scheduler: { budget_usd: 2 } });
    const reached = async (hours: number) => {
      const now = Date.parse(far.created_at) + hours * 3_600_000;
      const place = { ...shop.place, clock: { now: () => now } };
      return (await openRunMeter(place, { run: own, tell: () => undefined })).findReached();
    };
    expect(await reached(23)).toContain('The cap of the last 24 hours is reached: $2.00');
    expect(await reached(25)).toBeUndefined();
  });

  it('[S2-F8] is what was counted in a run, also after reports that are smaller, silent or not to be believed', async () => {
    const own = await newRun(await shop.create('One'));
    shop.set({ caps: { run_usd: 2, run_tokens: 20 } });
    const counting = await meter(own);
    counting.note(said(1.9), 'working');
    const silent = { input_tokens: null, output_tokens: null, cached_tokens: null, cost: null };
    counting.note({ ...said(0), ...silent, refused: '1e+300 USD' }, 'turn_end');
    counting.note({ ...said(0), ...silent, refused: '1e+300 USD' }, 'turn_end');
    expect(counting.end(said(1.9))).toMatchObject({ cost_usd: 1.9, input_tokens: 10 });
    expect(counting.findReached()).toBeUndefined();
    expect(notes()).toEqual([
      'What w1 uses is unknown: no cap in USD or tokens can stop it; budget_minutes can',
      'w1 says that it used 1e+300 USD: that is not believed, and counts against no cap',
    ]);
    counting.note({ ...said(0.2), cost: { usd: 0.2, fallen_usd: 1.9, of: 'run' } }, 'working');
    expect(counting.findReached()).toContain(
      '$2.10 of $2.00; to raise it: forge settings set caps.run_usd 4 ',
    );
  });

  it('is priced as the person says, and held against the caps as they are now', async () => {
    const own = await newRun(await shop.create('One'));
    const prices = new Map([['mine', { input: 100_000, cached: 0, output: 0 }]]);
    const settings = { ...shop.place.settings(), prices };
    let caps = {};
    const place = { ...shop.place, settings: () => ({ ...settings, caps: { ...settings.caps, ...caps } }) };
    const counting = await openRunMeter(place, { run: own, tell: () => undefined });
    expect(counting.count({ ...said(0), cost: null })).toMatchObject({ cost_usd: 1 });
    expect(counting.findReached()).toBeUndefined();
    caps = { run_usd: 1 };
    await counting.refresh();
    expect(counting.findReached()).toContain('The cap of the run is reached');
  });
});

async function until<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((next) => setTimeout(next, 10));
  }
}

function isSaid(news: WorkNews, text: string): boolean {
  return news.kind === 'entry' && news.entry.kind === 'message' && news.entry.text === text;
}

describe('[A9] a message', () => {
  it('that a program cannot take now waits, goes before the later ones, and is sent once', async () => {
    const run = await newRun(await shop.create('Listen'));
    const { store } = shop.place;
    const left = async () =>
      (await store.listMessages({ attempt_id: run.attempt_id })).map(({ body }) => body);
    for (const body of ['one', 'two'])
      await store.addMessage({ attempt_id: run.attempt_id, body }, shop.as().by);
    const sent: string[] = [];
    let takes = [false, true];
    let unheard = ['one', 'two'];
    const started = {
      send: async (text: string) => {
        const isTaken = takes.shift() ?? true;
        if (isTaken) sent.push(text);
        return isTaken;
      },
      unheard: () => unheard,
      stop: async () => undefined,
      ended: new Promise<never>(() => undefined),
    };
    const messages = new SentMessages(shop.place, await store.getAttempt(run.attempt_id), started);
    await messages.deliver();
    expect(sent).toEqual([]);
    takes = [];
    await messages.deliver();
    await messages.deliver();
    expect([sent, await left()]).toEqual([
      ['one', 'two'],
      ['one', 'two'],
    ]);
    unheard = ['two'];
    await messages.deliver();
    expect(await left()).toEqual(['two']);
  });

  it('that an agent never took is part of its next prompt', async () => {
    addAgent('spender', 'acp', 'spender');
    const task = await shop.create('Listen');
    const { store } = shop.place;
    const working = shop.work(task, 'spender');
    const run = await until(async () => (await runsOf(task)).find(({ state }) => state === 'running'));
    await store.addMessage({ attempt_id: run.attempt_id, body: 'and blue' }, shop.as().by);
    await until(async () => shop.news.find((one) => isSaid(one, 'and blue')));
    await store.askStop({ id: run.id }, shop.as().by);
    await working;
    expect(await store.listMessages({ attempt_id: run.attempt_id })).toMatchObject([{ body: 'and blue' }]);
  });
});
