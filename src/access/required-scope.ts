import type { Scope } from './caller.ts';

/**
 * The scope that a call needs, which is its operation's unless a field becomes a command later: whoever may write
 * tasks must not thereby run programs. Pure; the input was checked.
 */
export function requiredScope(
  { name, access }: { readonly name: string; readonly access: Scope },
  input: Readonly<Record<string, unknown>>,
): Scope {
  if (access === 'admin' || access === 'exec') return access;
  switch (name) {
    case 'task.create':
      return setsSteps(input['review_config']) ? 'exec' : access;
    case 'task.update':
      // Null takes all of it away, checks that somebody with that right had set included.
      return input['review_config'] === null || setsSteps(input['review_config']) ? 'exec' : access;
    // To speak for the holder of a gate is to set the gate aside.
    case 'task.review':
      return input['force'] === true ? 'admin' : access;
    // What a run does differently from its profile: its program, its environment, its permissions.
    case 'task.claim':
      return hasKeys(input['overrides']) ? 'exec' : access;
    default:
      return access;
  }
}

/** Also an empty list: it takes checks away that somebody with that right had set. */
function setsSteps(config: unknown): boolean {
  return typeof config === 'object' && config !== null && 'ci_steps' in config;
}

function hasKeys(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}
