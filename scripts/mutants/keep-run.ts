import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** How the mutants of a room ended, the last time that all that were picked were tried. */
export interface MutantRun {
  readonly room: string;
  readonly seed: number;
  readonly tried: number;
  readonly killed: number;
  /** With a reason in tests/mutants.json. */
  readonly answered: number;
  readonly left: number;
  readonly at: string;
  readonly commit: string;
}

/** In the place of an earlier run of the same room with the same seed. */
export function keepRun(path: string, run: MutantRun): void {
  const before = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as readonly MutantRun[]) : [];
  const others = before.filter(({ room, seed }) => room !== run.room || seed !== run.seed);
  const sorted = [...others, run].toSorted((a, b) => a.room.localeCompare(b.room) || a.seed - b.seed);
  writeFileSync(path, `${JSON.stringify(sorted, undefined, 2)}\n`);
}
