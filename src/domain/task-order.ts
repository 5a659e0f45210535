import { compareText } from '#kernel/text.ts';

/** What the orders of tasks compare by. Ids and times are ASCII, so that every database has one order for them. */
export interface OrderedTask {
  readonly id: string;
  readonly priority: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly critical_path: number;
  readonly unblocks: number;
}

type Order<Name extends keyof OrderedTask> = (
  a: Pick<OrderedTask, Name>,
  b: Pick<OrderedTask, Name>,
) => number;

const byId: Order<'id'> = (a, b) => compareText(a.id, b.id);
const byAge: Order<'created_at' | 'id'> = (a, b) => compareText(a.created_at, b.created_at) || byId(a, b);
const byPriority: Order<'priority' | 'created_at' | 'id'> = (a, b) => a.priority - b.priority || byAge(a, b);

const byUpdate: Order<'updated_at' | 'id'> = (a, b) => compareText(b.updated_at, a.updated_at) || byId(a, b);
/** By the longest chain of open tasks that waits for each, then by how many wait directly, then as always. */
const byImpact: Order<'critical_path' | 'unblocks' | 'priority' | 'created_at' | 'id'> = (a, b) =>
  b.critical_path - a.critical_path || b.unblocks - a.unblocks || byPriority(a, b);

/** The orders that lists have: by name, what comes first. Each ends with the id, so that no two tasks stand in one place. */
export const TASK_ORDERS = {
  priority: byPriority,
  created: byAge,
  updated: byUpdate,
  id: byId,
  impact: byImpact,
};
