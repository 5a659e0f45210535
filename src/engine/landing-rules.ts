import type { Merge } from '#contract/attempt.ts';
import type { ControlGit } from '#git/control-directory.ts';
import {
  type AllowedMove,
  askMessageHook,
  askMoveHooks,
  findProtectiveHooks,
} from '#git/protective-hooks.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { WorkPlace } from './work.ts';

/** What the user's repository wants of everything that comes onto a branch: its hooks, and signed commits. */
export interface LandingRules {
  /** What the hooks have made of it. */
  readonly message: string;
  readonly sign: boolean;
  /** Sentences for the person about what git would have done and Forge has not. */
  readonly notes: readonly string[];
  /** Throws guard_rejected where a hook refuses the move. */
  askMove(move: {
    readonly branch: string;
    readonly old: string;
    readonly commit: string;
  }): Promise<AllowedMove>;
  /** Throws guard_rejected where `merge.sign` wants what could not be had. Gives the sentence that says so else. */
  judgeSignature(unsigned: string | undefined): readonly string[];
}

/** Read once for each merge. Throws guard_rejected where a hook refuses the message. */
export async function readLandingRules(
  place: WorkPlace,
  control: ControlGit,
  { message, strategy }: { readonly message: string; readonly strategy: Merge['strategy'] },
): Promise<LandingRules> {
  const hooks = await findProtectiveHooks(place.repo);
  // A rebase makes no message: its commits keep theirs.
  const isRebase = strategy === 'rebase';
  const skipped =
    isRebase && hooks.asked.includes('commit-msg') ? ['commit-msg', ...hooks.not_run] : hooks.not_run;
  return {
    message: isRebase ? message : await askMessageHook(place.repo, hooks, message),
    sign: wantsSignature(place, control),
    notes: skipped.length === 0 ? [] : [`Hooks of the repository that were not run: ${skipped.join(', ')}`],
    askMove: (move) => askMoveHooks(place.repo, hooks, move),
    judgeSignature: (unsigned) => judgeSignature(place, unsigned),
  };
}

/** By `merge.sign`: as the user's git does by itself (`auto`), always, or never. */
export function wantsSignature({ settings }: WorkPlace, { signs }: ControlGit): boolean {
  const { sign } = settings().merge;
  return sign === 'always' || (sign === 'auto' && signs);
}

function judgeSignature({ settings }: WorkPlace, unsigned: string | undefined): readonly string[] {
  if (unsigned === undefined) return [];
  if (settings().merge.sign !== 'always') return [`Its commit is not signed: ${unsigned}`];
  throw new ForgeError('guard_rejected', `merge.sign is always, and ${lowerFirst(unsigned)}`, {
    hint: 'Unlock the key (ssh-add, or gpg-agent), then merge again; or set merge.sign to auto',
  });
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
