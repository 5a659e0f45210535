import { askGit, getFromGit } from '#git/ask-git.ts';
import type { ControlGit } from '#git/control-directory.ts';
import { readRef } from '#git/read-ref.ts';
import { toGitFailure } from '#git/run-git.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';

/** What was kept of a checkout before it was removed. */
export interface Rescued {
  readonly attempt_id: string;
  /** Rises with every rescue of the attempt. */
  readonly number: number;
  readonly ref: string;
  readonly commit: string;
  readonly at: string;
  readonly subject: string;
}

const RESCUE = 'refs/forge/rescue/';

/** Of all attempts, each one's in their order. */
export async function listRescued({ repository }: Pick<ControlGit, 'repository'>): Promise<Rescued[]> {
  const format = '%(objectname)%00%(refname)%00%(committerdate:unix)%00%(contents:subject)';
  const text = await getFromGit(repository, ['for-each-ref', `--format=${format}`, RESCUE]);
  const found = text.split('\n').flatMap((line) => parseLine(line) ?? []);
  return found.sort((a, b) => (a.attempt_id === b.attempt_id ? a.number - b.number : 0));
}

function parseLine(line: string): Rescued | undefined {
  const [commit = '', ref = '', seconds = '', subject = ''] = line.split('\0');
  const [attempt_id = '', number = ''] = ref.slice(RESCUE.length).split('/');
  if (!/^\d+$/.test(number)) return undefined;
  return { attempt_id, number: Number(number), ref, commit, at: toIso(Number(seconds) * 1_000), subject };
}

/** Makes a branch at the commit. Throws invalid_input for a name that is none, already_exists for one that is there. */
export async function restoreRescued(
  { repository }: ControlGit,
  { branch, commit }: { readonly branch: string; readonly commit: string },
): Promise<void> {
  const checked = await askGit(repository, ['check-ref-format', '--branch', branch]);
  if (checked.exit !== 0 || checked.stdout.trim() !== branch)
    throw new ForgeError('invalid_input', `${JSON.stringify(branch)} cannot be the name of a branch`, {
      details: { branch },
    });
  const ref = `refs/heads/${branch}`;
  const args = ['update-ref', '-m', 'forge: restore', '--stdin'];
  const result = await askGit(repository, args, { input: `create ${ref} ${commit}\n` });
  if (result.exit === 0) return;
  if ((await readRef(repository, ref)) === undefined) throw toGitFailure(args, result);
  throw new ForgeError('already_exists', `There is a branch ${branch} already`, {
    hint: 'Take another name',
    details: { branch },
  });
}
