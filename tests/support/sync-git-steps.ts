import type { Random } from './random.ts';
import type { SyncClone } from './sync-clone.ts';
import {
  isAncestor,
  isSameTree,
  listAncestors,
  mergeCommits,
  mergeTrees,
  type Commit,
  type MergedTree,
} from './sync-git.ts';

/** What git does in one clone. Each returns what happened, in a few words; nothing is ever refused with an error. */
export type GitStep = (clone: SyncClone, random: Random) => Promise<string>;

export const GIT_STEPS = {
  commit: (clone) => commit(clone, 'hook'),
  'forge commit': async (clone) => {
    if (clone.mergeHead !== undefined) return 'refused: in a merge';
    await clone.export();
    return commit(clone, 'none');
  },
  'commit --no-verify': (clone) => commit(clone, 'none'),
  'commit of other files': async (clone) => {
    if (clone.mergeHead !== undefined) return 'refused: in a merge';
    clone.moveHead(clone.makeCommit([clone.head], clone.head.tree));
    return 'committed';
  },
  'commit --amend': amend,
  branch: async (clone, random) => {
    const name = random.pick(BRANCHES);
    if (clone.branches.has(name)) return 'refused: there is one';
    clone.branches.set(name, random.pick([clone.head, ...listAncestors(clone.head)]));
    return name;
  },
  switch: switchBranch,
  merge: (clone, random) => mergeBranch(clone, random, 'merge'),
  'merge --squash': (clone, random) => mergeBranch(clone, random, 'squash'),
  rebase: async (clone, random) => {
    await tidy(clone, random);
    const [name, onto] = pickOther(clone, random) ?? [];
    if (name === undefined || onto === undefined) return 'no other branch';
    return `on ${name}: ${await rebase(clone, onto, random)}`;
  },
  'cherry-pick': (clone, random) => applyCommit(clone, random, 'pick'),
  revert: (clone, random) => applyCommit(clone, random, 'revert'),
  'reset --hard': async (clone, random) => {
    const to = random.pick([clone.head, ...listAncestors(clone.head)]);
    clone.mergeHead = undefined;
    clone.moveHead(to);
    await checkOut(clone, to);
    return `to ${to.number}`;
  },
  stash: async (clone) => stash(clone),
  'stash pop': unstash,
  fetch: async (clone) => fetchAll(clone),
  pull: async (clone, random) => {
    await tidy(clone, random);
    return pull(clone);
  },
  'pull --rebase': async (clone, random) => {
    fetchAll(clone);
    await tidy(clone, random);
    const theirs = clone.tracking.get(clone.branch) ?? clone.tracking.get('main');
    return theirs === undefined ? 'nothing there' : rebase(clone, theirs, random);
  },
  push: async (clone) => push(clone),
  'push for review': async (clone) => {
    // A branch of its own on the remote, which may be pushed anew: what others merged of it stays theirs.
    clone.remote.branches.set(`${clone.name}-review`, clone.head);
    return 'pushed';
  },
} satisfies Record<string, GitStep>;

const BRANCHES = ['topic', 'fix', 'spike'] as const;

/** Ends a merge that waits, where there is one. With the hook everything that the store knows goes in. */
export async function commit(clone: SyncClone, hook: 'hook' | 'none'): Promise<string> {
  if (hook === 'hook' && clone.hooks) {
    if (clone.mergeHead !== undefined) await clone.foldCommit('MERGE_HEAD', clone.mergeHead);
    await clone.export();
  }
  const tree = clone.readWorkingTree();
  if (clone.mergeHead === undefined && isSameTree(tree, clone.head.tree)) return 'nothing to commit';
  const parents = clone.mergeHead === undefined ? [clone.head] : [clone.head, clone.mergeHead];
  clone.mergeHead = undefined;
  clone.moveHead(clone.makeCommit(parents, tree));
  return `${clone.head.number}`;
}

async function amend(clone: SyncClone): Promise<string> {
  if (clone.mergeHead !== undefined || clone.head.parents.length === 0) return 'refused';
  if (clone.hooks) await clone.export();
  clone.moveHead(clone.makeCommit(clone.head.parents, clone.readWorkingTree()));
  return `${clone.head.number}`;
}

/** Git's files in the working tree, and the hook that looks at them. */
async function checkOut(clone: SyncClone, to: Commit): Promise<void> {
  clone.writeWorkingTree(to.tree);
  await clone.world.afterCheckout(clone);
  if (clone.hooks) await clone.fold();
}

async function switchBranch(clone: SyncClone, random: Random): Promise<string> {
  if (clone.mergeHead !== undefined) return 'refused: in a merge';
  const fresh = random.pick(BRANCHES);
  const known = clone.branches.has(fresh) || clone.tracking.has(fresh);
  const [name, to] = (known ? pickOther(clone, random) : undefined) ?? [fresh, clone.head];
  if (clone.isDirty && !isSameTree(clone.head.tree, to.tree)) {
    if (random.oneIn(3)) return 'refused: the file is changed';
    await commit(clone, 'none');
  }
  const carried = isSameTree(clone.head.tree, to.tree);
  const local = name.replace(/^origin\//, '');
  if (!clone.branches.has(local)) clone.branches.set(local, to);
  clone.branch = local;
  if (!carried) await checkOut(clone, clone.head);
  return local;
}

/** Who wants to merge commits first what is changed, or forgets it. */
async function tidy(clone: SyncClone, random: Random): Promise<void> {
  if (clone.isDirty && !random.oneIn(4)) await commit(clone, random.oneIn(3) ? 'none' : 'hook');
}

/** Another branch of this clone, or one of the remote that it knows. */
function pickOther(clone: SyncClone, random: Random): readonly [string, Commit] | undefined {
  const local = [...clone.branches].filter(([name]) => name !== clone.branch);
  const remote = [...clone.tracking].map(([name, commit]) => [`origin/${name}`, commit] as const);
  const others = [...local, ...remote];
  // Mostly one that has something new.
  const unmerged = others.filter(([, commit]) => !isAncestor(commit, clone.head));
  const choice = unmerged.length > 0 && !random.oneIn(5) ? unmerged : others;
  return choice.length === 0 ? undefined : random.pick(choice);
}

async function mergeBranch(clone: SyncClone, random: Random, how: 'merge' | 'squash'): Promise<string> {
  if (random.oneIn(2)) fetchAll(clone);
  await tidy(clone, random);
  const [name, theirs] = pickOther(clone, random) ?? [];
  if (name === undefined || theirs === undefined) return 'no other branch';
  return `${name}: ${await merge(clone, theirs, how)}`;
}

export async function merge(clone: SyncClone, theirs: Commit, how: 'merge' | 'squash'): Promise<string> {
  if (clone.isDirty) return 'refused: the file is changed';
  const ours = clone.head;
  if (isAncestor(theirs, ours)) return 'up to date';
  if (isAncestor(ours, theirs) && how === 'merge') {
    clone.moveHead(theirs);
    await checkOut(clone, theirs);
    return 'fast forward';
  }
  const merged = mergeCommits(ours, theirs, clone.mergeFile);
  clone.writeWorkingTree(merged.tree);
  await clone.world.afterCheckout(clone);
  if (merged.conflict) {
    // Whoever works here sees the markers; the next command reads both sides.
    clone.hasConflict = true;
    clone.mergeHead = how === 'merge' ? theirs : undefined;
    return 'conflict';
  }
  const parents = how === 'merge' ? [ours, theirs] : [ours];
  clone.moveHead(clone.makeCommit(parents, merged.tree));
  if (clone.hooks) {
    await clone.fold();
    await clone.foldCommit('HEAD^1', ours, clone.head);
    if (how === 'merge') await clone.foldCommit('HEAD^2', theirs, clone.head);
  }
  return 'merged';
}

/** One commit after the other on top of another, the way `git rebase` does: the side of the target is called ours. */
async function rebase(clone: SyncClone, onto: Commit, random: Random): Promise<string> {
  if (clone.isDirty) return 'refused: the file is changed';
  const start = clone.head;
  if (isAncestor(onto, start)) return 'up to date';
  const known = listAncestors(onto);
  const mine = [...listAncestors(start)]
    .filter((one) => !known.has(one) && one.parents.length === 1)
    .sort((a, b) => a.number - b.number);
  clone.moveHead(onto);
  await checkOut(clone, onto);
  for (const one of mine) {
    const [parent = one] = one.parents;
    const merged = mergeTrees(parent.tree, clone.head.tree, one.tree, clone.mergeFile);
    if (merged.conflict && random.oneIn(3)) {
      clone.moveHead(start);
      await checkOut(clone, start);
      return 'aborted';
    }
    await finishPick(clone, merged);
  }
  if (clone.hooks) await clone.fold();
  return `${mine.length} commits`;
}

async function finishPick(clone: SyncClone, merged: MergedTree): Promise<void> {
  const before = clone.head;
  clone.writeWorkingTree(merged.tree);
  await clone.world.afterCheckout(clone);
  if (merged.conflict) await clone.export();
  const tree = clone.readWorkingTree();
  if (!isSameTree(tree, before.tree)) clone.moveHead(clone.makeCommit([before], tree));
}

async function applyCommit(clone: SyncClone, random: Random, how: 'pick' | 'revert'): Promise<string> {
  await tidy(clone, random);
  if (clone.isDirty) return 'refused: the file is changed';
  const all = [...clone.branches.values(), ...clone.tracking.values()];
  const commits = [...new Set(all.flatMap((one) => [...listAncestors(one)]))]
    .filter((one) => one.parents.length === 1)
    .sort((a, b) => a.number - b.number);
  if (commits.length === 0) return 'nothing to take';
  const one = random.pick(commits);
  const [parent = one] = one.parents;
  const [base, theirs] = how === 'pick' ? [parent, one] : [one, parent];
  await finishPick(clone, mergeTrees(base.tree, clone.head.tree, theirs.tree, clone.mergeFile));
  return `${one.number}`;
}

function stash(clone: SyncClone): string {
  if (!clone.isDirty || clone.mergeHead !== undefined) return 'nothing to stash';
  clone.stashes.push({ base: clone.head, tree: clone.readWorkingTree() });
  clone.writeWorkingTree(clone.head.tree);
  return 'stashed';
}

export async function unstash(clone: SyncClone, random?: Random): Promise<string> {
  if (random !== undefined) await tidy(clone, random);
  const top = clone.stashes.at(-1);
  if (top === undefined || clone.isDirty) return 'refused';
  clone.stashes.pop();
  const merged = mergeTrees(top.base.tree, clone.head.tree, top.tree, clone.mergeFile);
  clone.writeWorkingTree(merged.tree);
  clone.hasConflict = merged.conflict;
  clone.onPop(top.tree);
  await clone.world.afterCheckout(clone);
  return merged.conflict ? 'conflict' : 'popped';
}

function fetchAll(clone: SyncClone): string {
  for (const [name, commit] of clone.remote.branches) clone.tracking.set(name, commit);
  return `${clone.tracking.size} branches`;
}

export async function pull(clone: SyncClone): Promise<string> {
  fetchAll(clone);
  const theirs = clone.tracking.get(clone.branch) ?? clone.tracking.get('main');
  return theirs === undefined ? 'nothing there' : merge(clone, theirs, 'merge');
}

export function push(clone: SyncClone): string {
  const there = clone.remote.branches.get(clone.branch);
  if (there === clone.head) return 'up to date';
  if (there !== undefined && !isAncestor(there, clone.head)) return 'refused: not a fast forward';
  clone.remote.branches.set(clone.branch, clone.head);
  clone.tracking.set(clone.branch, clone.head);
  return 'pushed';
}
