import { askGit, type GitRepo } from './ask-git.ts';

/** Git keeps these times in seconds. */
const SECOND_MS = 1_000;

/** One entry of the reflog of HEAD. */
export interface HeadMove {
  /** Where HEAD moved to. */
  readonly commit: string;
  readonly at: number;
  /** What moved it, in git's words, such as `commit: Fix it`. */
  readonly action: string;
}

/** The last moves of HEAD, the newest first; none where git keeps no reflog. */
export async function listHeadMoves(repo: GitRepo, limit: number): Promise<HeadMove[]> {
  const args = ['log', '-g', `-${limit}`, '--date=unix', '--format=%H %gd %gs', 'HEAD', '--'];
  const { stdout } = await askGit(repo, args);
  return stdout.split('\n').flatMap((line) => {
    const [, commit, at, action = ''] = /^([0-9a-f]+) HEAD@\{(\d+)\} ?(.*)$/.exec(line) ?? [];
    return commit === undefined ? [] : [{ commit, at: Number(at) * SECOND_MS, action }];
  });
}
