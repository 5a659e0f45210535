import { setTimeout as sleep } from 'node:timers/promises';
import { forgeClones } from './git-clones.ts';
import { seededRandom } from './random.ts';
import { endHistory } from './script-end.ts';
import * as gitActs from './script-git.ts';
import { ScriptModel, type Verdict } from './script-model.ts';
import { PEOPLE, planSteps, type Step } from './script-steps.ts';
import { createTask, editFile, giveCommand } from './script-writes.ts';
import { forge, readLines, type Place, type ScriptWorld } from './script-world.ts';

export const SCRIPT_MODES = ['standard', 'branch'] as const;
export type ScriptMode = (typeof SCRIPT_MODES)[number];

const TRUNK = 'forge-data';
const PAUSE_MS = 1_100;

export interface HistoryOutcome extends Verdict {
  /** Every command and edit, for the reader of a failure. */
  readonly told: readonly string[];
}

export function runSeed(seed: number, mode: ScriptMode, length: number): Promise<HistoryOutcome> {
  return runHistory(planSteps(seed, length), mode);
}

/** Three clones that work on three tasks with git, its hooks and the merge driver, until all have exchanged all. */
export async function runHistory(steps: readonly Step[], mode: ScriptMode): Promise<HistoryOutcome> {
  const init = mode === 'branch' ? ['init', '--branch', TRUNK] : ['init'];
  await using clones = await forgeClones(PEOPLE, { init });
  const place = (name: (typeof PEOPLE)[number]): Place => ({
    name,
    clone: clones.clone[name],
    pending: [],
    committed: [],
    isUnexported: false,
  });
  const world: ScriptWorld = {
    clones,
    init,
    trunk: mode === 'branch' ? TRUNK : 'main',
    model: new ScriptModel(),
    tasks: [],
    places: { a: place('a'), b: place('b'), c: place('c') },
    told: [],
  };
  try {
    await begin(world);
    for (const step of steps) {
      world.told.push(`${step.number} ${step.who}: ${step.act}`);
      await perform(world, step);
      if (step.pauses) await sleep(PAUSE_MS);
    }
    world.told.push('end');
    const { states, wrong } = await endHistory(world);
    const verdict = world.model.judge(states);
    return { lost: [...wrong, ...verdict.lost], reverted: verdict.reverted, told: world.told };
  } catch (error) {
    const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { lost: [said], reverted: [], told: world.told };
  }
}

async function begin(world: ScriptWorld): Promise<void> {
  const { a, b, c } = world.places;
  for (const title of ['T1', 'T2', 'T3']) await createTask(world, a, title);
  await forge(world, a, 'commit');
  await forge(world, a, 'sync');
  gitActs.push(world, a);
  for (const place of [b, c]) {
    gitActs.pull(world, place, '--no-rebase');
    await forge(world, place, 'sync');
    world.model.hears(place.name);
  }
}

async function perform(world: ScriptWorld, step: Step): Promise<void> {
  const place = world.places[step.who];
  const random = seededRandom(step.seed);
  switch (step.act) {
    case 'command':
      return giveCommand(world, place, step, random);
    case 'edit the file':
      // In branch mode there is none before a command asks for it.
      if (readLines(place.clone) === undefined) await forge(world, place, 'export');
      return void editFile(world, place, step, random);
    case 'git commit':
      return gitActs.commit(world, place);
    case 'git commit --no-verify':
      return gitActs.commit(world, place, '--no-verify');
    case 'forge commit':
      return void (await forge(world, place, 'commit'));
    case 'forge ready':
      return void (await forge(world, place, 'ready'));
    case 'forge sync':
      await forge(world, place, 'sync');
      return world.model.hears(place.name);
    case 'git pull':
      return gitActs.pull(world, place, '--no-rebase');
    case 'git pull --rebase':
      return gitActs.pull(world, place, '--rebase');
    case 'git push':
      return void gitActs.push(world, place);
    case 'change branch':
      return gitActs.changeBranch(world, place, random);
    case 'edit on the server':
      return gitActs.editOnServer(world, step, random);
    case 'merge on the server':
      return gitActs.mergeOnServer(world, random);
    case 'stash and pop':
      return gitActs.stashAndPop(world, place, random);
    case 'git commit --amend':
      return gitActs.amend(world, place);
    case 'undo the commit':
      return gitActs.undoCommit(world, place, random);
    case 'octopus merge':
      return gitActs.mergeAll(world, place);
    case 'check out the file':
      return gitActs.checkOutFile(world, place, random);
    case 'clone anew':
      return gitActs.cloneAnew(world, place);
    case 'lose the database':
      return gitActs.loseDatabase(world, place);
  }
}
