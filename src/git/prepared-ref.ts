import { LIMITS } from '#kernel/limits.ts';
import { type GitRepo, startWithGit } from './ask-git.ts';

/**
 * A git that can hold a branch and the HEAD of its working tree locked, and move the branch at one word. It is started
 * before any lock is taken, because a start takes longer than all that is done under the locks. When its input ends
 * without that word it lets go of both, so a killed parent leaves no lock.
 */
export interface PreparedRef extends AsyncDisposable {
  readonly pid: number | undefined;
  /** False where another process has a lock, or the branch is not at `from` any more. */
  hold(move: { readonly ref: string; readonly from: string; readonly to: string }): Promise<boolean>;
  /** The word is in git's input when this returns: the branch moves even if this process dies now. */
  commit(): void;
  /** Whether it has moved. */
  committed(): Promise<boolean>;
}

export async function openPreparedRef(repo: GitRepo, reason: string): Promise<PreparedRef> {
  // The user waits for the index lock meanwhile: another process's lock on the branch is not waited for long.
  const settings = [...(repo.settings ?? []), `core.filesRefLockTimeout=${LIMITS.landing_ref_lock_ms}`];
  const git = startWithGit({ ...repo, settings }, ['update-ref', '-m', reason, '--stdin']);
  let said = '';
  let over = false;
  let wake = (): void => undefined;
  git.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    wake();
  });
  const end = (): void => {
    over = true;
    wake();
  };
  git.ended.then(end, end);
  const hear = async (word: string): Promise<boolean> => {
    for (;;) {
      if (said.includes(`${word}: ok\n`)) return true;
      if (over) return false;
      await new Promise<void>((done) => (wake = done));
    }
  };
  git.stdin.write('start\n');
  await hear('start');
  return {
    pid: git.pid,
    hold({ ref, from, to }) {
      git.stdin.write(`update ${ref} ${to} ${from}\nprepare\n`);
      return hear('prepare');
    },
    commit: () => void git.stdin.write('commit\n'),
    committed: () => hear('commit'),
    async [Symbol.asyncDispose]() {
      git.stdin.end();
      await git.ended.catch(() => undefined);
    },
  };
}
