import { isAbsolute, resolve, sep } from 'node:path';
import { hasPrefix, matchCommand, matchLook } from '#domain/match-command.ts';
import { isInside, resolveReal } from './is-inside.ts';
import type { PermissionPolicy } from './executor.ts';
import type { PermissionAsk } from './protocols/session.ts';

export type Judgement =
  | { readonly decision: 'allowed' }
  | { readonly decision: 'denied'; readonly reason: string }
  | { readonly decision: 'ask' };

export interface PermissionRules {
  readonly policy: PermissionPolicy;
  readonly read_only: boolean;
  readonly cwd: string;
  /** Commands that need no question, by their first words. */
  readonly allow?: readonly string[] | undefined;
}

const ALLOWED: Judgement = { decision: 'allowed' };
const ASK: Judgement = { decision: 'ask' };

/** What the profile alone says to a request; only `ask` bothers a person. */
export function decidePermission(ask: PermissionAsk, rules: PermissionRules): Judgement {
  if (rules.read_only) {
    if (ask.kind === 'read') return ALLOWED;
    return { decision: 'denied', reason: 'This run may look at everything and change nothing' };
  }
  if (
    ask.command !== undefined &&
    allowsCommand(ask.command, rules.allow ?? [], {
      cwd: rules.cwd,
      at: ask.cwd,
      writes: rules.policy !== 'ask',
    })
  )
    return ALLOWED;
  if (ask.command !== undefined && looks(ask.command, { cwd: rules.cwd, at: ask.cwd })) return ALLOWED;
  if (rules.policy === 'ask') return ASK;
  const outside = ask.paths.some((path) => isOutside(path, rules.cwd));
  // A mistake that is known to leave the checkout is stopped whatever the profile allows.
  if (ask.kind === 'edit' && outside) return ASK;
  if (rules.policy === 'all') return ALLOWED;
  if (ask.kind === 'read') return outside ? ASK : ALLOWED;
  return ask.kind === 'edit' && ask.paths.length > 0 ? ALLOWED : ASK;
}

/** Whether a shell line does nothing but what begins with one of these; run elsewhere, or with files outside, it does. */
export function allowsCommand(
  line: string,
  prefixes: readonly string[],
  {
    cwd,
    at = cwd,
    writes = true,
  }: {
    readonly cwd: string;
    readonly at?: string | undefined;
    /** Whether its output may go to files of the checkout. */
    readonly writes?: boolean | undefined;
  },
): boolean {
  if (prefixes.length === 0 || resolveReal(at) !== resolveReal(cwd)) return false;
  const match = matchCommand(line, prefixes, at);
  if (!match.matches || (!writes && match.files.length > 0)) return false;
  return !match.files.some((path) => isOutside(path, cwd));
}

/** To look around in the checkout needs no question, as programs of agents see it themselves. */
function looks(
  line: string,
  { cwd, at = cwd }: { readonly cwd: string; readonly at?: string | undefined },
): boolean {
  // In any other folder git may find a repository that was put there for it.
  const isHere = resolveReal(at) === resolveReal(cwd);
  if (!isInside(at, cwd) || (!isHere && hasPrefix(line, 'git'))) return false;
  const match = matchLook(line, at);
  return match.matches && !match.files.some((path) => isOutside(resolve(at, path), cwd));
}

/** Git's own folder counts as outside: what is planted there could be run by whoever uses git next. */
export function isOutside(path: string, cwd: string): boolean {
  const full = isAbsolute(path) ? path : resolve(cwd, path);
  if (!isInside(full, cwd)) return true;
  const below = resolveReal(full).slice(resolveReal(cwd).length);
  return below.split(sep).some((part) => part.toLowerCase() === '.git');
}
