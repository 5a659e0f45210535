import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Mutant } from './find-mutants.ts';
import type { SourceFile } from './nearest-tests.ts';

export type Verdict = 'killed' | 'survived' | 'untested';

/** A mutant and the file it is made in. */
export interface PlacedMutant extends Mutant {
  readonly path: string;
}

export interface KeptVerdicts {
  /** Undefined where the mutant has to be tried. */
  readonly find: (mutant: PlacedMutant) => Verdict | undefined;
  /** `noticed_by` are the test files that killed the mutant. */
  readonly add: (mutant: PlacedMutant, verdict: Verdict, noticed_by: readonly string[]) => void;
}

interface Line {
  readonly mutant: string;
  readonly verdict: Verdict;
  /** Null where all tests together have noticed nothing. */
  readonly tests: readonly string[] | null;
  readonly digest: string;
}

/**
 * The verdicts of earlier runs with the same sources, so that a run that was stopped goes on where it stopped. A killed
 * mutant stays killed as long as the tests that noticed it are the same; a mutant that no test noticed is tried again
 * after any change of a test.
 */
export function openVerdicts(kept: string, tests: readonly SourceFile[]): KeptVerdicts {
  const lines = new Map<string, Line>();
  for (const text of existsSync(kept) ? readFileSync(kept, 'utf8').split('\n') : []) {
    const line = parseLine(text);
    if (line !== undefined) lines.set(line.mutant, line);
  }
  const digestOf = (paths: readonly string[] | null): string =>
    digest(tests.filter(({ path }) => paths === null || paths.includes(path)));
  return {
    find: (mutant) => {
      const line = lines.get(toKey(mutant));
      return line !== undefined && line.digest === digestOf(line.tests) ? line.verdict : undefined;
    },
    add: (mutant, verdict, noticed_by) => {
      const paths = verdict === 'killed' ? noticed_by : null;
      const line: Line = { mutant: toKey(mutant), verdict, tests: paths, digest: digestOf(paths) };
      lines.set(line.mutant, line);
      appendFileSync(kept, `${JSON.stringify(line)}\n`);
    },
  };
}

/** A short text that changes with the files. */
export function digest(files: readonly SourceFile[]): string {
  return createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
}

/** The last line is cut where the run was killed while it wrote. */
function parseLine(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return undefined;
  }
}

function toKey({ path, start, end, to }: PlacedMutant): string {
  return JSON.stringify([path, start, end, to]);
}
