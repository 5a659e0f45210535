import { expect, it } from 'vitest';
import { landBesideUser } from '../../tests/support/landing-beside-user.ts';

/** So many landings; fewer for a quick look. */
const LANDINGS = Number(process.env['FORGE_SOAK_LANDINGS'] ?? 1_000);

it(`[A5] lands ${LANDINGS} times beside a user who commits, stashes and switches every 60 to 260 ms`, async () => {
  const found = await landBesideUser(LANDINGS, { seed: 1 });
  const { polluted, lost, undone, left, ...figures } = found;
  const share = (met: number): string => `${((100 * met) / figures.commands).toFixed(1)} %`;
  const shares = {
    share_that_met_the_lock: share(figures.met_lock),
    share_that_met_a_move: share(figures.met_move),
  };
  process.stdout.write(`${JSON.stringify({ ...figures, ...shares }, null, 2)}\n`);
  expect({ polluted, lost, undone, left }, `the user of seed ${figures.seed}`).toEqual({
    polluted: [],
    lost: [],
    undone: [],
    left: [],
  });
  expect(figures.landed).toBe(LANDINGS);
  expect(figures.failed_otherwise.filter((line) => /never went/.test(line))).toEqual([]);
});
