export interface ToldWorkflow {
  /** Of its text. */
  readonly digest: string;
  /**
   * It is what a checkout shows; left out where a person says that it is to count. `before`: what the same checkout
   * showed when it was last looked at; undefined for one that no program looked at yet.
   */
  readonly shown?: { readonly before: string | undefined } | undefined;
}

/** `take`: it is the next version. `stands`: another one counts. `same`: it counts already. */
export type WorkflowDecision = 'same' | 'take' | 'stands';

/**
 * One project has one workflow, however many checkouts show one: what was written last. A checkout of an older commit
 * shows an older one, and that is no change of it. A file that changed since it was last looked at is one: by a person,
 * a pull or a switch of branches. `kept` is the digest of the one that counts; undefined where none was told yet.
 */
export function decideWorkflow(kept: string | undefined, { digest, shown }: ToldWorkflow): WorkflowDecision {
  if (kept === digest) return 'same';
  if (kept === undefined || shown === undefined) return 'take';
  return shown.before === undefined || shown.before === digest ? 'stands' : 'take';
}

/** A new clone's first look at a file that says nothing is no change of what anybody saw: the feed is not told of it. */
export function isNews(kept: string | undefined, definition: object | undefined): boolean {
  return kept !== undefined || definition !== undefined;
}
