import { healLandings, type Healed } from '#git/heal-landings.ts';
import { escapeLine } from '#kernel/text.ts';
import { processWitness } from '#process/process-witness.ts';
import { nameFiles } from '#kernel/name-files.ts';
import { toGitRepo, type Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';

/** Files that are named in one line; what goes beyond is counted. */
const SHOWN = 5;

/**
 * For a command that finds the folder of a landing: puts right what a killed process left in a checkout, and says so.
 * What cannot be put right now is told and left to the next command; what was asked for may not need it.
 */
export async function healLanding(
  paths: Pick<ProjectPaths, 'root'>,
  machine: Pick<Machine, 'env'>,
  notice: (line: string) => void,
): Promise<void> {
  try {
    for (const healed of await healLandings(toGitRepo(paths.root, machine), processWitness))
      notice(describe(healed));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    notice(`A merge that was cut short could not be put right: ${escapeLine(why)}`);
  }
}

function describe(healed: Healed): string {
  const where = `in ${escapeLine(healed.worktree)}`;
  if (healed.kind === 'left')
    return `A merge into ${escapeLine(healed.branch)} was cut short ${where} and is not put right yet: ${escapeLine(healed.why)}`;
  const what = healed.side === 'new' ? 'finished' : 'taken back';
  const kept = healed.kept.length === 0 ? '' : `; left as they are: ${nameFirst(healed.kept)}`;
  return `A merge into ${escapeLine(healed.branch)} was cut short ${where}, and was ${what}${kept}`;
}

function nameFirst(files: readonly string[]): string {
  return nameFiles(files, SHOWN);
}
