import type { ControlGit } from './control-directory.ts';
import { listChanges } from './list-changes.ts';

/** What lies between two commits. */
export interface Changes {
  readonly changed_files: number;
  readonly insertions: number;
  readonly deletions: number;
  readonly files: readonly string[];
  readonly gitlinks: Gitlinks;
}

/** Commits of other repositories at a path. */
export interface Gitlinks {
  readonly added: readonly string[];
  readonly changed: readonly string[];
}

const GITLINK = '160000';

export async function readChanges(control: ControlGit, base: string, head: string): Promise<Changes> {
  const changes = base === head ? [] : await listChanges(control, { base, head });
  const links = changes.filter(({ modes }) => modes.after === GITLINK);
  const isKnown = ({ modes }: (typeof links)[number]): boolean => modes.before === GITLINK;
  return {
    changed_files: changes.length,
    insertions: changes.reduce((sum, { insertions }) => sum + (insertions ?? 0), 0),
    deletions: changes.reduce((sum, { deletions }) => sum + (deletions ?? 0), 0),
    files: changes.map(({ path }) => path),
    gitlinks: {
      added: links.filter((link) => !isKnown(link)).map(({ path }) => path),
      changed: links.filter(isKnown).map(({ path }) => path),
    },
  };
}
