import { rmSync } from 'node:fs';
import type { PutBackLine } from '#domain/taken-back.ts';
import type { OwnValue } from '#domain/judge-losses.ts';
import { foldTexts, makeTexts, noteWritten } from '#sync/branch-mode.ts';
import type { Random } from './random.ts';
import type { SyncChecks } from './sync-checks.ts';
import type { SyncClone } from './sync-clone.ts';
import { convergeClones } from './sync-converge.ts';
import { GIT_STEPS, type GitStep } from './sync-git-steps.ts';
import { isAncestor, isSameTree, type Commit } from './sync-git.ts';
import { readLines, writeLines } from './sync-hand-steps.ts';

/** A task file that a person has open in an editor. */
export interface OpenedFile {
  readonly told: string;
  readonly lines: readonly string[];
  write(lines: readonly string[]): void;
}

/** How the tasks of a project travel, and where a person finds the file. */
export interface HandMode {
  readonly clones: readonly string[];
  /** Whether git knows the file in the working tree. */
  readonly isTracked: boolean;
  /** Everything that the first clone has made, to all. */
  share(clones: readonly SyncClone[], random: Random): Promise<void>;
  /** What a person does with git, or with the commands that stand for it. */
  step(clone: SyncClone, random: Random): Promise<string>;
  openFile(clone: SyncClone, random: Random): Promise<OpenedFile | undefined>;
  /** Until all clones have all. */
  settle(clones: readonly SyncClone[], checks: SyncChecks): Promise<void>;
}

/** What takes no edit away that no command has seen yet. */
const GIT = [
  'commit',
  'commit --no-verify',
  'commit --no-verify',
  'forge commit',
  'forge commit',
  'pull',
  'pull',
  'pull',
  'push',
  'push',
  'fetch',
  'switch',
  'merge',
  'merge --squash',
  'stash',
  'stash pop',
] as const;

export const STANDARD: HandMode = {
  clones: ['ann', 'bob', 'cleo'],
  isTracked: true,
  async share(clones, random) {
    const [first] = clones;
    if (first === undefined) return;
    await GIT_STEPS['forge commit'](first);
    await GIT_STEPS.push(first);
    for (const clone of clones) await GIT_STEPS.pull(clone, random);
  },
  async step(clone, random) {
    const step = random.pick(GIT);
    // What writes the file begins with a look at it, as every command does; only this commits what no command has seen.
    if (step !== 'commit --no-verify') await clone.fold();
    const told = await (GIT_STEPS[step] as GitStep)(clone, random);
    // What git took out of the file must be seen before a person edits it again; hooks see to that, or a command.
    await clone.fold();
    return `${step}: ${told}`;
  },
  openFile: (clone) => Promise.resolve(clone.mergeHead === undefined ? openHere(clone) : undefined),
  settle: convergeClones,
};

const DATA = 'forge-data';
/** More than this means that they never come to an end. */
const ROUNDS = 4;

/** The tasks are on a branch that is never checked out; a person edits what `forge export` wrote, or that branch at the remote. */
export const BRANCH: HandMode = {
  clones: ['ann', 'bob', 'cleo'],
  isTracked: false,
  async share(clones) {
    for (const clone of clones) await exchange(clone);
  },
  async step(clone, random) {
    const step = random.pick([
      'sync',
      'sync',
      'sync',
      'sync --offline',
      'export',
      'remove the file',
    ] as const);
    // Every command begins with a look.
    await clone.fold();
    if (step === 'sync') await exchange(clone);
    if (step === 'sync --offline') await commitHere(clone);
    if (step === 'export') await clone.export();
    if (step === 'remove the file') rmSync(clone.files.tasks, { force: true });
    return step;
  },
  async openFile(clone, random) {
    if (random.oneIn(3)) return openRemote(clone);
    if (clone.readWorkingTree().tasks === undefined) await clone.export();
    return openHere(clone);
  },
  async settle(clones, checks) {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const clone of clones) {
        const before = await checks.readBefore(clone);
        await clone.fold();
        await exchange(clone);
        await checks.expectNothingLost(clone, before, `round ${round}`);
      }
    }
    if (clones.some((clone) => clone.branches.get(DATA) !== clone.remote.branches.get(DATA)))
      checks.fail(`the clones still change the data branch after ${ROUNDS} rounds`);
    for (const clone of clones) await clone.export();
  },
};

/** One clone and its file, of which git knows nothing. */
export const STEALTH: HandMode = {
  clones: ['ann'],
  isTracked: false,
  share: () => Promise.resolve(),
  async step(clone, random) {
    const step = random.pick(['sync', 'sync', 'look', 'remove the file'] as const);
    await clone.fold();
    if (step === 'sync') await clone.export();
    if (step === 'remove the file') rmSync(clone.files.tasks, { force: true });
    return step;
  },
  openFile: (clone, random) => BRANCH.openFile(clone, random),
  async settle(clones) {
    for (const clone of clones) {
      await clone.fold();
      await clone.export();
    }
  },
};

function openHere(clone: SyncClone): OpenedFile {
  return { told: '', lines: readLines(clone), write: (lines) => writeLines(clone, lines) };
}

/** As on a server's web page: a commit of the edited file. */
function openRemote(clone: SyncClone): OpenedFile | undefined {
  const { branches } = clone.remote;
  const head = branches.get(DATA);
  if (head === undefined) return undefined;
  return {
    told: 'at the remote',
    lines: (head.tree.tasks ?? '').split('\n').filter((line) => line !== ''),
    write(lines) {
      const tasks = lines.map((line) => `${line}\n`).join('');
      branches.set(DATA, clone.makeCommit([head], { ...head.tree, tasks }));
    },
  };
}

/** Fetch, join, commit, push; as exchange-branch.ts does it. */
async function exchange(clone: SyncClone): Promise<void> {
  const theirs = clone.remote.branches.get(DATA);
  const ours = clone.branches.get(DATA);
  if (theirs !== undefined) await foldSide(clone, theirs, 'theirs');
  if (ours !== undefined) await foldSide(clone, ours, 'ours');
  const isApart =
    ours !== undefined && theirs !== undefined && !isAncestor(ours, theirs) && !isAncestor(theirs, ours);
  const tip = ours === undefined || (theirs !== undefined && isAncestor(ours, theirs)) ? theirs : ours;
  const parents = isApart ? [ours, theirs] : tip === undefined ? [] : [tip];
  const commit = await commitOn(clone, parents, { always: isApart, sides: ['ours', 'theirs'] });
  clone.branches.set(DATA, commit);
  clone.remote.branches.set(DATA, commit);
}

async function commitHere(clone: SyncClone): Promise<void> {
  const ours = clone.branches.get(DATA);
  if (ours !== undefined) await foldSide(clone, ours, 'ours');
  clone.branches.set(
    DATA,
    await commitOn(clone, ours === undefined ? [] : [ours], { always: false, sides: ['ours'] }),
  );
}

async function foldSide(clone: SyncClone, commit: Commit, side: 'ours' | 'theirs'): Promise<void> {
  const findSeen = (values: readonly OwnValue[]) => Promise.resolve(clone.findSeen(values, commit));
  const findByHand = (back: readonly PutBackLine[]) => Promise.resolve(clone.findTakenBack(back, commit));
  await foldTexts(clone.store, commit.tree, { now: clone.now, findSeen, findByHand, side });
}

async function commitOn(
  clone: SyncClone,
  parents: readonly Commit[],
  { always, sides }: { readonly always: boolean; readonly sides: Parameters<typeof noteWritten>[1] },
): Promise<Commit> {
  const texts = await makeTexts(clone.store);
  await noteWritten(clone.store, sides, { event_seq: texts.event_seq, now: clone.now });
  const tree = { tasks: texts.tasks.toString('utf8'), history: texts.history.toString('utf8') };
  const [tip] = parents;
  return tip !== undefined && !always && isSameTree(tip.tree, tree) ? tip : clone.makeCommit(parents, tree);
}
