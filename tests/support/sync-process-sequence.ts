import { join } from 'node:path';
import { openStore } from '#store/open-store.ts';
import { systemClock } from '#kernel/clock.ts';
import { forgeClones, type Clone, type Clones } from './git-clones.ts';
import { seededRandom } from './random.ts';
import {
  FORGE_STEPS,
  GIT_PROCESS_STEPS,
  git,
  readUserFiles,
  type ProcessStep,
  type ProcessStepGiven,
} from './sync-process-steps.ts';
import {
  describeFact,
  findMissing,
  listFacts,
  listNews,
  readState,
  type Fact,
  type SyncState,
} from './sync-state.ts';

const NAMES = ['ann', 'bob', 'cleo'] as const;
type Name = (typeof NAMES)[number];

export interface ProcessSequence {
  readonly seed: number;
  readonly steps: readonly { readonly name: Name; readonly do: string; readonly seed: number }[];
}

export interface ProcessOutcome {
  readonly failures: readonly string[];
  readonly told: readonly string[];
}

const ROUNDS = 8;
const LONGEST = 14;
const BAG: readonly (readonly string[])[] = [
  ['create', 'edit', 'edit', 'close'],
  ['commit', 'pull', 'push'],
  Object.keys(FORGE_STEPS),
  Object.keys(GIT_PROCESS_STEPS),
];

/** Everybody knows a task before they part. */
const START = [
  { name: 'ann', do: 'create', seed: 0 },
  { name: 'ann', do: 'commit', seed: 0 },
  { name: 'ann', do: 'push', seed: 0 },
  { name: 'bob', do: 'pull', seed: 0 },
  { name: 'cleo', do: 'pull', seed: 0 },
] as const;

export function makeProcessSequence(seed: number): ProcessSequence {
  const random = seededRandom(seed);
  const steps = Array.from({ length: 10 + random.below(LONGEST) }, () => ({
    name: random.pick(NAMES),
    do: random.pick(random.pick(BAG)),
    seed: random.below(0x7fff_ffff),
  }));
  return { seed, steps: [...START, ...steps] };
}

/** `wrong` are steps of the test's own, to see that the checks see them. */
export async function runProcessSequence(
  { steps }: ProcessSequence,
  wrong: Readonly<Record<string, ProcessStep>> = {},
): Promise<ProcessOutcome> {
  await using world = await forgeClones(NAMES, { by: 'the program' });
  const run = new ProcessRun(world, { ...GIT_PROCESS_STEPS, ...FORGE_STEPS, ...wrong });
  try {
    for (const step of steps) {
      await run.carryOut(step);
      if (run.failures.length > 0) break;
    }
    if (run.failures.length === 0) await run.converge();
    if (run.failures.length === 0) await run.checkEnd();
  } catch (error) {
    run.failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  return { failures: run.failures, told: run.told };
}

/** All that is needed to see a failure again, or nothing where there is none. Ids and times differ from run to run. */
export function describeProcessFailure(seed: number, { told, failures }: ProcessOutcome): string {
  return failures.length === 0 ? '' : [`Seed ${seed}:`, ...told, ...failures].join('\n');
}

class ProcessRun {
  readonly failures: string[] = [];
  readonly told: string[] = [];
  readonly #world: Clones<Name>;
  readonly #steps: Readonly<Record<string, ProcessStep>>;
  readonly #acknowledged: Fact[] = [];
  readonly #made: string[] = [];
  readonly #written = new Map<string, Set<string>>();

  constructor(world: Clones<Name>, steps: Readonly<Record<string, ProcessStep>>) {
    this.#world = world;
    this.#steps = steps;
  }

  async carryOut(step: ProcessSequence['steps'][number]): Promise<void> {
    const clone = this.#world.clone[step.name];
    const work = this.#steps[step.do];
    if (work === undefined) throw new Error(`no step is called ${step.do}`);
    const before = await stateOf(clone);
    const known = [...before.tasks.values()].sort((a, b) => a.created - b.created);
    const given: ProcessStepGiven = {
      clone,
      name: step.name,
      place: this.#world.place,
      random: seededRandom(step.seed),
      ids: known.map(({ id }) => id),
      made: (id) => void this.#made.push(id),
      number: this.told.length,
      written: this.#written,
    };
    const files = userState(clone);
    const result = await work(given);
    this.told.push(`${this.told.length} ${step.name} ${step.do}: ${result}`);
    if (!(step.do in GIT_PROCESS_STEPS) && userState(clone) !== files)
      this.failures.push(`${step.do} changed files of the user:\n${files}\n${userState(clone)}`);
    await this.#expectNothingLost(clone, before, step.do);
  }

  /** Whatever happens to branches and files, no store forgets. */
  async #expectNothingLost(clone: Clone, before: SyncState, step: string): Promise<void> {
    const after = await stateOf(clone);
    for (const fact of findMissing(listFacts(before), after))
      this.failures.push(`${step} lost ${describeFact(fact)}`);
    this.#acknowledged.push(...listNews(before, after));
  }

  async converge(): Promise<void> {
    for (const clone of this.#world.all) {
      git({ clone }, 'add', '-A', 'src');
      git({ clone }, 'commit', '-m', 'last');
      await clone.run('commit');
      git({ clone }, 'stash', 'push');
      git({ clone }, 'switch', 'main');
      const branches = clone.git('for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n');
      for (const branch of branches) if (branch !== 'main') mergeAnyhow(clone, branch);
      this.told.push(`${clone.path.split('/').at(-1)} ends on ${clone.git('branch', '--show-current')}`);
    }
    for (let round = 1; round <= ROUNDS; round += 1) {
      const heads = [];
      for (const clone of this.#world.all) {
        await clone.run('commit');
        git({ clone }, 'fetch');
        mergeAnyhow(clone, 'origin/main');
        await clone.run('commit');
        git({ clone }, 'push', 'origin', 'main');
        heads.push(clone.git('rev-parse', 'HEAD'));
      }
      if (new Set(heads).size === 1) return;
    }
    this.failures.push(`the clones still differ after ${ROUNDS} rounds`);
  }

  async checkEnd(): Promise<void> {
    const [first, ...others] = this.#world.all;
    if (first === undefined) return;
    const state = await stateOf(first);
    for (const clone of this.#world.all) {
      const status = clone.git('status', '--porcelain');
      if (status !== '') this.failures.push(`${clone.path} is not clean:\n${status}`);
      for (const [file, text] of readUserFiles(clone.path)) {
        if (this.#written.get(file)?.has(text) !== true)
          this.failures.push(`${file} holds what nobody wrote: ${text}`);
      }
    }
    for (const clone of others) {
      for (const file of ['.forge/tasks.jsonl', '.forge/history.jsonl']) {
        if (clone.read(file) !== first.read(file)) this.failures.push(`${file} differs between clones`);
      }
      if ((await stateOf(clone)).lines.join('\n') !== state.lines.join('\n'))
        this.failures.push('two stores export different lines');
    }
    if (`${state.lines.join('\n')}\n` !== first.read('.forge/tasks.jsonl') && state.lines.length > 0)
      this.failures.push('the file is not what the store exports');
    for (const fact of findMissing(this.#acknowledged, state))
      this.failures.push(`lost in the end: ${describeFact(fact)}`);
    for (const id of this.#made) {
      if (!state.names.has(id)) this.failures.push(`the task ${id} is lost`);
    }
  }
}

/** Files of the user may conflict where a commit was picked or rebased; the task files never do. */
function mergeAnyhow(clone: Clone, ref: string): void {
  const { exit } = clone.tryGit(['merge', '--no-edit', ref]);
  if (exit === 0) return;
  const unmerged = clone.git('diff', '--name-only', '--diff-filter=U');
  if (unmerged.includes('.forge')) throw new Error(`the task files are unmerged in ${clone.path}`);
  clone.tryGit(['checkout', '--ours', '--', 'src']);
  clone.tryGit(['add', '-A', 'src']);
  clone.git('commit', '--no-edit', '--allow-empty');
}

/** Looked at through the store itself, so that no command of the sequence has to answer for it. */
async function stateOf({ path }: Clone): Promise<SyncState> {
  const folder = join(path, '.git', 'forge');
  await using store = await openStore({ folder }, { clock: systemClock });
  return await readState(store);
}

/** The user's files, and what git would say of them. */
function userState(clone: Clone): string {
  const files = [...readUserFiles(clone.path)].map(([file, text]) => `${file}: ${text}`);
  const status = clone.tryGit(['status', '--porcelain', '--', '.', ':(exclude).forge']).output;
  return [...files, status].join('\n');
}
