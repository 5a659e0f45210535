/** What an agent's token asks of a task before it may change it. */
export interface Holding {
  /** The task, as the caller named it. */
  readonly id: string;
  readonly agent: string;
  /** Also where nobody holds it, because that is how a task is taken. */
  readonly or_free: boolean;
}

interface Holders {
  /** The owner. */
  readonly assignee: string | null;
  /** Agents that have a role on the task. */
  readonly roles: readonly string[];
}

export function isHeldBy(
  { assignee, roles }: Holders,
  agent: string,
  { or_free }: { readonly or_free: boolean },
): boolean {
  return assignee === agent || roles.includes(agent) || (or_free && assignee === null);
}
