import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { NO_AGENTS } from '#domain/claimer.ts';
import { crashProject, readRows, setUp } from './support/crash-runs.ts';
import { forgeProject } from './support/forge-cli.ts';
import { startForgeServer } from './support/forge-server.ts';
import { seededRandom } from './support/random.ts';
import {
  createTasks,
  measureTakeovers,
  SLEEPERS,
  sleepAndWake,
  startHolder,
  startRival,
} from './support/takeovers.ts';
import { sqliteEngine } from './support/temp-engine.ts';

const CYCLES = Number(process.env['FORGE_SOAK_CYCLES'] ?? 100);
/** The checklist's time for a takeover, for leases of a minute. */
const TAKEN_MS = 75_000;
const LONG = 3_600_000;

describe.skipIf(process.platform === 'win32')('takeovers', () => {
  it(
    '[F45] the tasks of holders that were killed are taken over in time, and none before',
    async ({ annotate }) => {
      await using project = await forgeProject();
      const options = { holders: 10, tasks: 10, lease_s: 60, wait_ms: 2 * TAKEN_MS };
      const { times, left, early } = await measureTakeovers(project, options);
      expect({ left, early }).toEqual({ left: 0, early: 0 });
      const sorted = times.toSorted((one, other) => one - other);
      const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0;
      const inTime = times.filter((ms) => ms <= TAKEN_MS).length;
      await annotate(`${inTime} takeovers within 75 s of ${times.length}`);
      await annotate(
        `after ${Math.round(sorted[0] ?? 0)} to ${Math.round(sorted.at(-1) ?? 0)} ms, p99 ${Math.round(p99)} ms`,
      );
    },
    LONG,
  );

  it(
    '[F15] nothing is taken from holders and watchers that slept, or whose server did',
    async ({ annotate }) => {
      await using project = await crashProject();
      await setUp(project, { workspace: { ports: 0 } });
      const words = ['bash', '-c', 'echo begun > x; sleep 3600'].map((word) => `--command=${word}`);
      await project.text('agent', 'add', 'long', '--executor', 'shell', ...words);
      const [worked = '', ...tasks] = await createTasks(project, 7);
      await using server = await startForgeServer(project);
      await using beside = await startForgeServer(project);
      await server.ask(`/api/v1/tasks/${worked}/claim`, { body: { assignee: 'long' } });
      await expect.poll(() => readRows(project, worked).runs[0]?.state, { timeout: 60_000 }).toBe('running');
      const run = readRows(project, worked).runs;
      using stack = new DisposableStack();
      const lease = { lease_s: 2, beat_ms: 500, url: server.url, token: server.token };
      const holders = [];
      for (const [at, ids] of [tasks.slice(0, 3), tasks.slice(3)].entries())
        holders.push(stack.use(await startHolder({ ...lease, name: `holder-${at}`, tasks: ids })));
      const rival = startRival(server, tasks, 200);
      const random = seededRandom(19);
      for (let cycle = 0; cycle < CYCLES; cycle += 1) {
        const who = random.pick(SLEEPERS);
        // Also shorter than the lease: a server that was stopped for more than a second judges no holder at once.
        const sleep_ms = 1_200 + random.below(2_200);
        await sleepAndWake(who, { server, beside, holders }, { sleep_ms, random });
        await sleep(lease.lease_s * 1_000 + 200);
        const taken = [...rival.taken.keys()];
        const refused = holders.flatMap((holder) => holder.refused);
        expect({ cycle, who, taken, refused }).toEqual({ cycle, who, taken: [], refused: [] });
        expect(readRows(project, worked).runs).toEqual(run);
      }
      // Planted: one that sleeps alone is silent while the others are there, and is missed.
      holders[0]?.kill('SIGSTOP');
      await expect.poll(() => rival.taken.size, { timeout: 30_000 }).toBe(3);
      await rival.stop();
      await annotate(`${CYCLES} cycles of sleep and resume by processes`);
    },
    LONG,
  );

  it('nothing is taken after hours of sleep, by a clock that is set; who is gone is missed in time', async ({
    annotate,
  }) => {
    const TTL = 60_000;
    const random = seededRandom(15);
    await using engine = await sqliteEngine();
    const { temp } = engine;
    const by = (name: string) =>
      ({ actor: { kind: 'agent', name, named: true }, now: temp.clock.now() }) as const;
    const { id } = await engine.create('Held');
    const claim = (name: string) =>
      temp.store.claimTask({ id, assignee: name, force: false, lease_ms: TTL, agents: NO_AGENTS }, by(name));
    const claimed = await claim('bot');
    const fence = claimed.outcome === 'claimed' ? claimed.fence : 0;
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      temp.clock.advance(random.below(TTL / 3));
      await temp.store.renewLease({ id, fence }, by('bot'));
      // From a minute to a night. A shorter one cannot be told from silence where no process stays that slept too.
      temp.clock.advance(1 + Math.round(TTL * 2 ** (random.below(90) / 10)));
      // The rival is awake first, and goes on asking until the holder has had its chance.
      const chance = random.below(TTL - 1);
      for (let waited = 0; waited < chance; waited += 5_000) {
        expect(await claim('rival')).toMatchObject({ outcome: 'taken', owner: 'bot' });
        temp.clock.advance(Math.min(5_000, chance - waited));
      }
      await temp.store.renewLease({ id, fence }, by('bot'));
      expect(await claim('rival')).toMatchObject({ outcome: 'taken', owner: 'bot' });
    }
    const gone = temp.clock.now();
    while ((await claim('rival')).outcome !== 'claimed') temp.clock.advance(1_000);
    expect(temp.clock.now() - gone).toBeLessThanOrEqual(TAKEN_MS);
    await annotate(`${CYCLES} cycles of sleep and resume by a clock`);
  });
});
