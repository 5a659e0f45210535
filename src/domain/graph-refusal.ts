import { ForgeError } from '#kernel/errors.ts';
import { SERVED_LIMITS } from '#kernel/served-limits.ts';

/** Why the ties of a task to others were not changed. */
export type GraphRefusal =
  | {
      readonly outcome: 'cycle';
      /** What would close it: a dependency, or a parent. */
      readonly by: 'dependency' | 'parent';
      /** From the task back to itself. */
      readonly path: readonly string[];
    }
  /** A server does not walk that far. */
  | { readonly outcome: 'walk_too_long'; readonly command: string }
  | { readonly outcome: 'no_dependency'; readonly to: string; readonly type: string | undefined };

/** Longer cycles are named by their ends; no person reads a hundred ids. */
const SHOWN = 12;

export function explainGraphRefusal(id: string, refusal: GraphRefusal): ForgeError {
  switch (refusal.outcome) {
    case 'cycle':
      return explainCycle(id, refusal);
    case 'walk_too_long':
      return new ForgeError(
        'too_large',
        `More than ${SERVED_LIMITS.walked_edges.toLocaleString('en')} dependencies lead on from ${id}, which are too many to look for a cycle in one request of a server`,
        {
          hint: `In the repository, without --server: ${refusal.command}`,
          details: { id, limit: SERVED_LIMITS.walked_edges },
        },
      );
    case 'no_dependency': {
      const { to, type } = refusal;
      return new ForgeError(
        'not_found',
        `${id} has no ${type === undefined ? '' : `${type} `}dependency on ${to}`,
        { hint: `forge task show ${id}`, details: { from_id: id, to_id: to } },
      );
    }
  }
}

function explainCycle(id: string, { by, path }: Extract<GraphRefusal, { outcome: 'cycle' }>): ForgeError {
  const details = { path };
  if (by === 'parent')
    return new ForgeError('dependency_cycle', `${id} would become its own ancestor: ${show(path)}`, {
      details,
    });
  if (path.length === 2)
    return new ForgeError('dependency_cycle', `${id} cannot depend on itself`, { details });
  return new ForgeError('dependency_cycle', `That would close a cycle: ${show(path)}`, {
    hint: `forge dep tree ${path[1] ?? id}`,
    details,
  });
}

function show(path: readonly string[]): string {
  if (path.length <= SHOWN) return path.join(' -> ');
  return [...path.slice(0, SHOWN / 2), `(${path.length - SHOWN} more)`, ...path.slice(-SHOWN / 2)].join(
    ' -> ',
  );
}
