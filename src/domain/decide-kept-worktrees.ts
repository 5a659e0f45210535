import { compareText } from '#kernel/text.ts';

/** What is known of the folder of an attempt. */
export interface KeptWorktreeFacts {
  readonly id: string;
  readonly state: 'active' | 'merged' | 'archived';
  /** A person or an agent is at work on its task, here or elsewhere. */
  readonly busy: boolean;
  /** When the attempt was over, or began where that is not known. */
  readonly over_at: string;
}

/** Folders that may go, the oldest first, and how many of them are too many. An unfinished attempt's never goes. */
export function decideKeptWorktrees<T extends KeptWorktreeFacts>(
  all: readonly T[],
  { number }: { readonly number: number },
): { readonly free: readonly T[]; readonly too_many: number } {
  const over = all.filter(({ state }) => state !== 'active');
  const free = over.filter(({ busy }) => !busy);
  return {
    free: free.toSorted((a, b) => compareText(a.over_at, b.over_at) || compareText(a.id, b.id)),
    too_many: Math.min(free.length, Math.max(0, over.length - number)),
  };
}
