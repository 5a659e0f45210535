import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { GitRepo } from './ask-git.ts';
import type { ControlGit } from './control-directory.ts';
import { type NewCommit, writeCommit } from './write-commit.ts';

/** Writes commits for the user, signed as the user's own git signs. */
export interface Signer {
  write(commit: NewCommit): Promise<string>;
  /** Why commits that should be signed are not; undefined where all are, or none should be. */
  readonly unsigned: string | undefined;
}

/**
 * Signs in the user's repository, with the whole of its configuration: `gpg.format`, the program and the key are the
 * user's. No terminal is asked and no window opens; a key that would ask for its passphrase makes an unsigned commit
 * and a sentence. After the first failure no further one is waited for.
 */
export function createSigner(
  control: ControlGit,
  { sign, timeout_ms = LIMITS.git_sign_ms }: { readonly sign: boolean; readonly timeout_ms?: number },
): Signer {
  let unsigned: string | undefined;
  return {
    get unsigned() {
      return unsigned;
    },
    write: async (commit) => {
      if (!sign || unsigned !== undefined) return writeCommit(control, { ...commit, sign: false });
      try {
        return await writeCommit(withoutPrompts(control.repository), {
          ...commit,
          sign: true,
          apart_ms: timeout_ms,
        });
      } catch (error) {
        // A setting that the user's git cannot even read fails there in any case, and does not reach this one. What
        // is wrong with the commit itself is thrown here.
        if (!isForgeError(error)) throw error;
        const written = await writeCommit(control, { ...commit, sign: false });
        unsigned = error.message;
        return written;
      }
    },
  };
}

const PROMPTS: readonly string[] = ['GPG_TTY', 'DISPLAY', 'WAYLAND_DISPLAY', 'SSH_ASKPASS'];

/** An agent that holds the key is still asked: its socket stays. */
function withoutPrompts(repo: GitRepo): GitRepo {
  const env = Object.entries(repo.env ?? process.env).filter(([name]) => !PROMPTS.includes(name));
  return { ...repo, env: { ...Object.fromEntries(env), SSH_ASKPASS_REQUIRE: 'never' } };
}
