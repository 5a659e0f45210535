import { ForgeError } from '#kernel/errors.ts';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';

/** A write that changes the records of many tasks, in a process that serves others meanwhile. */
export type Rewrite =
  /** The neighbours of a task that goes or comes back. */
  | { readonly what: 'delete' | 'restore'; readonly id: string }
  /** The tasks of a state that a new workflow does not have. */
  | { readonly what: 'map' };

/** What the records of several tasks are made of. */
export interface RecordWeight {
  readonly bytes: number;
  /** Comments and dependencies. */
  readonly parts: number;
}

export type RewriteRefusal =
  | { readonly outcome: 'too_many'; readonly rewrite: Rewrite; readonly tasks: number }
  | { readonly outcome: 'too_heavy'; readonly rewrite: Rewrite; readonly tasks: number };

/** `weigh` is asked only where the tasks are few enough. One task of any size is none: any change of it alone costs as much. */
export function decideRewrite(
  rewrite: Rewrite,
  { tasks, weigh }: { readonly tasks: number; readonly weigh: () => RecordWeight },
): RewriteRefusal | undefined {
  if (tasks > NEIGHBOUR_LIMITS.rewritten) return { outcome: 'too_many', rewrite, tasks };
  return tasks > 1 && isHeavy(weigh()) ? { outcome: 'too_heavy', rewrite, tasks } : undefined;
}

/** Whether the records are too much to write anew in one request. */
export function isHeavy({ bytes, parts }: RecordWeight): boolean {
  return bytes > NEIGHBOUR_LIMITS.rewritten_bytes || parts > NEIGHBOUR_LIMITS.rewritten_parts;
}

export function explainRewrite({ outcome, rewrite, tasks }: RewriteRefusal): ForgeError {
  const { rewritten, rewritten_bytes, rewritten_parts } = NEIGHBOUR_LIMITS;
  const isMany = outcome === 'too_many';
  const bounds = isMany
    ? { limit: rewritten }
    : { limit_bytes: rewritten_bytes, limit_parts: rewritten_parts };
  if (rewrite.what === 'map')
    return new ForgeError(
      'too_large',
      `${tasks} tasks are too ${isMany ? 'many' : 'large'} to move in one request of a server`,
      {
        hint: 'forge workflow set <file> --map <from>=<to>, in the repository and without --server',
        details: bounds,
      },
    );
  const { id, what } = rewrite;
  return new ForgeError(
    'too_large',
    isMany
      ? `More than ${rewritten} children and dependents of ${id} would be changed, which are too many for one request of a server`
      : `The children and dependents of ${id} that would be changed hold more than ${rewritten_bytes / 1_048_576} MiB, or ${rewritten_parts.toLocaleString('en')} comments and dependencies, which is too much for one request of a server`,
    {
      hint: `In the repository, without --server: ${what === 'delete' ? `forge task delete ${id}` : `forge task restore ${id}`}`,
      details: { id, ...bounds },
    },
  );
}

/** The same for a task that is closed or opened again: its dependents keep their records, and are counted anew. */
export function decideRecount(id: string, dependents: number): ForgeError | undefined {
  const most = NEIGHBOUR_LIMITS.recounted;
  if (dependents <= most) return undefined;
  return new ForgeError(
    'too_large',
    `More than ${most} tasks wait for ${id}, which are too many to count anew in one request of a server`,
    { hint: 'Run the same command in the repository, without --server', details: { id, limit: most } },
  );
}
