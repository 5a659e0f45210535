import { seededRandom, type Random } from './random.ts';

export const PEOPLE = ['a', 'b', 'c'] as const;
export type Person = (typeof PEOPLE)[number];

/** How often each is done, of a hundred. */
const WEIGHTS = {
  command: 23,
  'edit the file': 23,
  'git commit': 6,
  'git commit --no-verify': 5,
  'forge commit': 4,
  'forge sync': 4,
  'forge ready': 3,
  'git pull': 6,
  'git pull --rebase': 4,
  'git push': 6,
  'change branch': 4,
  'edit on the server': 3,
  'merge on the server': 2,
  'stash and pop': 1,
  'git commit --amend': 1,
  'undo the commit': 1,
  'octopus merge': 1,
  'check out the file': 1,
  'clone anew': 1,
  'lose the database': 1,
} as const;

export type Act = keyof typeof WEIGHTS;
const ACTS = Object.keys(WEIGHTS) as Act[];
const DECK = ACTS.flatMap((act) => Array<Act>(WEIGHTS[act]).fill(act));

/** What is often done right after an edit of the file. */
const AFTER_EDIT: readonly Act[] = [
  'git commit',
  'git commit',
  'git commit --no-verify',
  'git commit --no-verify',
  'forge commit',
  'forge ready',
];

/** Says by itself all that it does: a history stays a history when steps are left out of it. */
export interface Step {
  /** Part of every value that the step writes, so that no other step writes the same by chance. */
  readonly number: number;
  readonly who: Person;
  readonly act: Act;
  /** For what the step chooses by itself: task, field, value, flags. */
  readonly seed: number;
  /** Git tells times apart by seconds. */
  readonly pauses: boolean;
}

export function planSteps(seed: number, length: number): Step[] {
  const random = seededRandom(seed);
  // A pause takes as long as ten steps.
  const isSlow = random.oneIn(5);
  const steps: Step[] = [];
  const add = (who: Person, act: Act): void => {
    const pauses = isSlow && random.oneIn(4);
    steps.push({ number: steps.length + 1, who, act, seed: random.below(1e9), pauses });
  };
  while (steps.length < length) planNext(random, add);
  return steps;
}

function planNext(random: Random, add: (who: Person, act: Act) => void): void {
  const who = random.pick(PEOPLE);
  const act = random.pick(DECK);
  add(who, act);
  if (act === 'edit the file' && !random.oneIn(4)) add(who, random.pick(AFTER_EDIT));
}
