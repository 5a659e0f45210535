import { accessSync, constants, copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isForgeError } from '#kernel/errors.ts';
import { seededRandom, type Random } from './random.ts';
import { withSeededBytes } from './seeded-bytes.ts';
import { SyncChecks } from './sync-checks.ts';
import { makeRoot, SyncClone, type CloneSetup } from './sync-clone.ts';
import { convergeClones } from './sync-converge.ts';
import { GIT_STEPS, type GitStep } from './sync-git-steps.ts';
import { HAND_STEPS, IDS, type HandStep } from './sync-hand-steps.ts';
import { readState } from './sync-state.ts';
import { TASK_STEPS, type TaskStep } from './sync-task-steps.ts';
import type { SyncWorld } from './sync-world.ts';

/** One thing that happens in one clone. Its choices hang on its own seed, so that others may be left out. */
export interface SyncStep {
  readonly clone: number;
  readonly do: string;
  readonly seed: number;
  /** How far the clone's clock moves before it, in milliseconds; clocks stand still and jump back too. */
  readonly wait: number;
}

export interface SyncSequence {
  readonly seed: number;
  readonly setups: readonly Omit<CloneSetup, 'folder'>[];
  readonly steps: readonly SyncStep[];
}

export interface SyncOutcome {
  /** Empty when nothing was lost and all clones are equal. */
  readonly failures: readonly string[];
  /** What happened, a line a step. */
  readonly told: readonly string[];
  readonly writes: number;
}

const DAY_MS = 86_400_000;
const NOON = Date.UTC(2026, 1, 10, 12);
const MOST_SESSIONS = 12;
const WRITES = ['edit', 'edit', ...Object.keys(TASK_STEPS)];
const COMMITS = ['forge commit', 'forge commit', 'commit', 'commit --no-verify'];
/** What somebody does in one go; steps that stand alone would mostly find nothing to do. */
const SESSIONS: readonly (readonly (readonly string[])[])[] = [
  [WRITES, WRITES, COMMITS, ['pull', 'pull', 'pull --rebase'], ['push']],
  [WRITES, WRITES, COMMITS, ['pull', 'pull', 'pull --rebase'], ['push']],
  [['switch'], WRITES, COMMITS, ['push'], ['switch'], WRITES, COMMITS],
  [['fetch'], ['merge', 'merge', 'merge --squash', 'rebase', 'cherry-pick'], WRITES, COMMITS],
  [['edit by hand'], ['look', 'commit', 'commit --no-verify', 'stash'], WRITES],
  [Object.keys(GIT_STEPS)],
  [Object.keys(GIT_STEPS)],
  [Object.keys(HAND_STEPS), COMMITS],
  [['remove forge.db', 'remove .git/forge', 'look', 'compact']],
];
/** Two that merge each other's work at the same time: whoever comes next has two merge bases. */
const CROSSING = [
  [0, 'edit'],
  [0, 'forge commit'],
  [0, 'push for review'],
  [1, 'edit'],
  [1, 'forge commit'],
  [1, 'push for review'],
  [0, 'fetch'],
  [1, 'fetch'],
  [0, 'merge'],
  [1, 'merge'],
  [0, 'edit'],
  [0, 'forge commit'],
  [0, 'push'],
  [1, 'edit'],
  [1, 'forge commit'],
  [1, 'pull'],
  [1, 'settle'],
] as const;
/** Everybody knows some tasks before they part. */
const START = [
  [0, 'create'],
  [0, 'create'],
  [0, 'create'],
  [0, 'forge commit'],
  [0, 'push'],
  [1, 'pull'],
  [2, 'pull'],
] as const;
const WAITS = [0, 0, 1, 1, 7, 1_000, 60_000, -5_000, -DAY_MS, DAY_MS];

export function makeSequence(seed: number): SyncSequence {
  const random = seededRandom(seed);
  const setups = ['ann', 'bob', 'cleo'].map((name) => ({
    name,
    driver: !random.oneIn(5),
    hooks: !random.oneIn(4),
    canonical: !random.oneIn(6),
    now: NOON + (random.below(7) - 3) * DAY_MS * Number(random.oneIn(2)) + random.below(3),
  }));
  const makeStep = (clone: number, name: string): SyncStep => ({
    clone,
    do: name,
    seed: random.below(0x7fff_ffff),
    wait: random.pick(WAITS),
  });
  const start = random.oneIn(6) ? [] : START.map(([clone, name]) => makeStep(clone, name));
  const sessions = Array.from({ length: 4 + random.below(MOST_SESSIONS) }, () => {
    const clone = random.below(setups.length);
    if (random.oneIn(12))
      return CROSSING.map(([side, name]) => makeStep((clone + side) % setups.length, name));
    return random.pick(SESSIONS).map((names) => makeStep(clone, random.pick(names)));
  });
  return { seed, setups, steps: [...start, ...sessions.flat()] };
}

/** Carries the sequence out, brings the clones together and looks at what is left. */
export async function runSequence(sequence: SyncSequence, world: SyncWorld): Promise<SyncOutcome> {
  const folder = await mkdtemp(join(memoryFolder(), 'forge-sync-'));
  const remote = { branches: new Map() };
  const around = { world, remote, root: makeRoot(), numbers: { next: 0 } };
  const clones = sequence.setups.map((setup) => new SyncClone({ ...setup, folder }, around));
  const checks = new SyncChecks(clones, remote);
  try {
    for (const clone of clones) await openNew(clone, folder);
    await withSeededBytes(seededRandom(sequence.seed), SHORT_IDS, async () => {
      for (const step of sequence.steps) {
        await carryOut(clones[step.clone] as SyncClone, step, checks); // as many clones as setups
        if (checks.failures.length > 0) return;
      }
      await convergeClones(clones, checks);
      if (checks.failures.length === 0) await checks.atEnd();
    });
  } catch (error) {
    checks.fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    for (const clone of clones) await clone.close();
    await rm(folder, { recursive: true, force: true });
  }
  return { failures: checks.failures, told: checks.told, writes: checks.writes };
}

/** The first makes the schema; the others get a copy of its empty database, which saves most of the time. */
async function openNew(clone: SyncClone, folder: string): Promise<void> {
  const template = join(folder, 'empty.db');
  mkdirSync(dirname(clone.database), { recursive: true });
  if (existsSync(template)) copyFileSync(template, clone.database);
  await clone.open();
  if (existsSync(template)) return;
  await clone.close();
  copyFileSync(clone.database, template);
  await clone.open();
}

/** Leaves out one step after the other as long as it still fails. */
export async function shrinkSequence(sequence: SyncSequence, world: SyncWorld): Promise<SyncSequence> {
  let smallest = sequence;
  for (let at = smallest.steps.length - 1; at >= 0; at -= 1) {
    const shorter = { ...smallest, steps: smallest.steps.filter((_, index) => index !== at) };
    const { failures } = await runSequence(shorter, world);
    if (failures.length > 0) smallest = shorter;
  }
  return smallest;
}

/** All that is needed to see a failure again. */
export async function describeFailure(sequence: SyncSequence, world: SyncWorld): Promise<string> {
  const smallest = await shrinkSequence(sequence, world);
  const { failures, told } = await runSequence(smallest, world);
  const setups = smallest.setups.map((setup) => JSON.stringify(setup));
  return [
    `Seed ${sequence.seed} fails, with ${smallest.steps.length} of ${sequence.steps.length} steps:`,
    ...setups,
    ...told,
    ...failures,
  ].join('\n');
}

async function carryOut(clone: SyncClone, step: SyncStep, checks: SyncChecks): Promise<void> {
  clone.now = Math.max(NOON - 30 * DAY_MS, clone.now + step.wait);
  const random = seededRandom(step.seed);
  const before = await checks.readBefore(clone);
  const tell = (what: string): void =>
    void checks.told.push(
      `${checks.told.length} ${clone.name} ${new Date(clone.now).toISOString()} ${step.do}: ${what}`,
    );
  const gitSteps: Readonly<Record<string, GitStep>> = GIT_STEPS;
  const git = gitSteps[step.do];
  if (git !== undefined) {
    tell(await checks.watchLines(clone, step.do, () => git(clone, random)));
    if (step.do === 'commit' && clone.hooks) await checks.expectHandEdit(clone);
    checks.forgetHandEdit(clone);
    await checks.expectNothingLost(clone, before, step.do);
    return;
  }
  const handSteps: Readonly<Record<string, HandStep>> = HAND_STEPS;
  const hand = handSteps[step.do];
  if (hand !== undefined) {
    // Who removes a line has had it folded; who edits one has mostly seen it as it is.
    await clone.fold();
    if (clone.mergeHead === undefined && random.oneIn(2)) await clone.export();
    const known = await readState(clone.store);
    const edit = hand(clone, random);
    tell(edit?.told ?? 'nothing to edit');
    if (edit !== undefined) checks.noteHandEdit(clone, known, edit);
    if (random.oneIn(2)) {
      await clone.fold();
      await checks.expectHandEdit(clone);
    }
    await checks.expectNothingLost(clone, before, step.do);
    return;
  }
  if (step.do === 'remove forge.db') {
    await clone.removeDatabase();
    tell('');
    await checks.expectNothingLost(clone, { ...before, moves: new Set() }, step.do);
  } else if (step.do === 'remove .git/forge') {
    await clone.removeEverything();
    await clone.fold();
    tell(`${await checks.forgetWhatWasRemoved()} facts were nowhere else`);
  } else {
    await clone.fold();
    await checks.expectHandEdit(clone);
    await command(clone, step, { random, checks, tell });
    await checks.expectNothingLost(clone, before, step.do);
  }
}

async function command(
  clone: SyncClone,
  step: SyncStep,
  { random, checks, tell }: { random: Random; checks: SyncChecks; tell: (what: string) => void },
): Promise<void> {
  const taskSteps: Readonly<Record<string, TaskStep>> = TASK_STEPS;
  const write = taskSteps[step.do];
  if (write === undefined) return tell('');
  const before = await readState(clone.store);
  if (step.do === 'create') clone.now = checks.unusedTime(clone);
  try {
    tell(await write(clone, random, before));
  } catch (error) {
    if (!isForgeError(error)) throw error;
    tell(`refused: ${error.code}`);
  }
  checks.noteWrites(clone, before, await readState(clone.store));
}

/** 'a' is the eleventh of the alphabet; eight bytes are asked for four characters. */
export const SHORT_IDS = {
  size: 8,
  values: [...IDS, 'dddd'].map((id) => Array.from({ length: 8 }, () => id.charCodeAt(0) - 97 + 10)),
};

/** In memory where Linux offers it: a sync costs nothing there. */
export function memoryFolder(): string {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return tmpdir();
  }
}
