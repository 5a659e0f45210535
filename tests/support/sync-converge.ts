import type { SyncChecks } from './sync-checks.ts';
import type { SyncClone } from './sync-clone.ts';
import { commit, merge, pull, push, unstash } from './sync-git-steps.ts';
import { isSameTree } from './sync-git.ts';

/** More than this for three clones means that they never come to an end. */
const ROUNDS = 12;

/** Everybody finishes what is under way, brings all to main, then pulls and pushes until nothing changes. */
export async function convergeClones(clones: readonly SyncClone[], checks: SyncChecks): Promise<void> {
  for (const clone of clones) {
    const before = await checks.readBefore(clone);
    await finish(clone);
    await checks.expectNothingLost(clone, before, 'finish');
  }
  for (let round = 1; round <= ROUNDS; round += 1) {
    let changed = false;
    for (const clone of clones) {
      const before = await checks.readBefore(clone);
      const result = await checks.watchLines(clone, 'push', () => exchange(clone));
      checks.told.push(`round ${round} ${clone.name}: ${result}`);
      changed ||= result !== 'up to date';
      await checks.expectNothingLost(clone, before, `round ${round}`);
      if (checks.failures.length > 0) return;
    }
    const [first, ...others] = clones.map((clone) => clone.readWorkingTree());
    if (!changed && others.every((tree) => first !== undefined && isSameTree(first, tree))) return;
  }
  checks.fail(`the clones still change each other's files after ${ROUNDS} rounds`);
}

async function finish(clone: SyncClone): Promise<void> {
  // A hook that never runs would leave the store's own writes out of every commit; `forge commit` has none.
  clone.hooks = true;
  clone.canonical = true;
  await clone.fold();
  await commit(clone, 'hook');
  while (clone.stashes.length > 0) {
    await unstash(clone);
    await clone.fold();
    await commit(clone, 'hook');
  }
  const last = clone.branch;
  if (last !== 'main') {
    clone.branch = 'main';
    clone.writeWorkingTree(clone.head.tree);
    await clone.world.afterCheckout(clone);
    await clone.fold();
  }
  await commit(clone, 'hook');
  for (const [name, theirs] of clone.branches) {
    if (name === 'main') continue;
    await merge(clone, theirs, 'merge');
    await clone.fold();
    await commit(clone, 'hook');
  }
}

async function exchange(clone: SyncClone): Promise<string> {
  await clone.fold();
  await commit(clone, 'hook');
  await pull(clone);
  await clone.fold();
  await commit(clone, 'hook');
  return push(clone);
}
