import { expect, it } from 'vitest';
import { crashProject } from '../support/crash-runs.ts';
import { killServerAgain, listRestartFaults, type RunRow } from '../support/killed-server.ts';

const AGENTS = 50;
const KILLS = Number(process.env['FORGE_SOAK_KILLS'] ?? 100);
const MINUTES = Number(process.env['FORGE_SOAK_MINUTES'] ?? 15);
/** The checklist's time for a restart. */
const SETTLED_MS = 10_000;

it(`[F36] a server that is killed with ${AGENTS} agents at work settles each of them once`, async ({
  annotate,
}) => {
  await using project = await crashProject();
  const until = performance.now() + MINUTES * 60_000;
  const times = await killServerAgain(project, { agents: AGENTS, kills: KILLS, until });
  expect(times.length).toBeGreaterThan(0);
  const inTime = times.filter(({ wall_ms }) => wall_ms <= SETTLED_MS);
  await annotate(`${inTime.length} kills settled within 10 s, of ${times.length}`);
  await annotate(`settled after ${toText(times.map(({ wall_ms }) => wall_ms))}`);
  // On a machine with other work the time says more about that.
  await annotate(`by ${toText(times.map(({ cpu_ms = 0 }) => cpu_ms))} on the processors`);
}, 3_600_000);

function toText(times: readonly number[]): string {
  const sorted = times.toSorted((one, other) => one - other);
  const [median = 0, longest = 0] = [sorted[sorted.length >> 1], sorted.at(-1)];
  return `${Math.round(median)} ms in the median, ${Math.round(longest)} ms at most`;
}

it('a run that was started twice, and one that nobody settled, are found', () => {
  const run = (id: string, started: number, ended: number | null): RunRow => ({
    id,
    task_id: 'fg-1',
    state: ended === null ? 'running' : 'failed',
    outcome: ended === null ? null : 'crashed',
    message: null,
    started_at: `2026-01-01T00:00:0${started}.000Z`,
    ended_at: ended === null ? null : `2026-01-01T00:00:0${ended}.000Z`,
  });
  expect(listRestartFaults([run('a', 1, 2), run('b', 3, null)], 1)).toEqual([]);
  expect(listRestartFaults([run('a', 1, 4), run('b', 3, null)], 1)).toEqual(['fg-1: was started twice']);
  expect(listRestartFaults([run('a', 1, null), run('b', 3, 4)], 1)).toEqual(['fg-1: was started twice']);
  expect(listRestartFaults([run('a', 1, null)], 1)).toEqual(['fg-1: 0 of its runs crashed at 1 kills']);
});
