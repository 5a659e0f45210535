import { type GitRepo, streamFromGit } from './ask-git.ts';

/** A commit that changed the file, or a merge; the parents are the next of the same kind. */
export interface GraphCommit {
  readonly commit: string;
  readonly parents: readonly string[];
  /** Seconds, by the clock of the committing machine. */
  readonly committed: number;
  /** The file's object; undefined where a merge left it as all its parents have it, null where it is not there. */
  readonly oid: string | null | undefined;
}

const SECTION = '\u0001';
const FORMAT = `--format=%x01%H %ct %P`;

/** The history of one file, newest first as git finds it, with the ways from commit to commit. */
export async function* listFileGraph(repo: GitRepo, rev: string, path: string): AsyncGenerator<GraphCommit> {
  const how = ['-z', '-m', '--raw', '--no-abbrev', '--no-renames', '--no-follow', '--full-history'];
  const args = ['log', ...how, '--parents', FORMAT, '--end-of-options', rev, '--', `:(top,literal)${path}`];
  let last: GraphCommit | undefined;
  for await (const field of streamFromGit(repo, args)) {
    // Between the head of a commit and its first change git puts a line end.
    const text = field.replace(/^\n/, '');
    if (text.startsWith(SECTION)) {
      const [commit = '', seconds, ...parents] = text.slice(SECTION.length).split(' ');
      // A merge has such a head for each parent that it differs from.
      if (last?.commit === commit) continue;
      if (last !== undefined) yield last;
      last = {
        commit,
        parents: parents.filter((one) => one !== ''),
        committed: Number(seconds),
        oid: undefined,
      };
    } else if (text.startsWith(':') && last !== undefined) {
      const oid = text.split(' ')[3] ?? '';
      last = { ...last, oid: /^0*$/.test(oid) ? null : oid };
    }
  }
  if (last !== undefined) yield last;
}
