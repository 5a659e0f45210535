import type { Attempt } from '#contract/attempt.ts';

/** That somebody left the attempt's branch in its folder, or came back; one sentence, with text of others in it. */
export function describeStray({ branch, strayed }: Pick<Attempt, 'branch' | 'strayed'>): string {
  return strayed === null
    ? `Its worktree is on ${branch} again`
    : `Its worktree is ${strayed}, not on ${branch}`;
}
