/** Who asks: a name kept word for word, and whether a person or an agent bears it. */
export interface Actor {
  readonly kind: 'user' | 'agent' | 'system';
  readonly name: string;
  /** True when the caller named itself (flag or environment), false when git's user.name was taken. */
  readonly named: boolean;
}

/** As the transition log and the events write it: `agent:worker-1`, and `system` for what a workflow does by itself. */
export function toTriggeredBy(actor: Actor): string {
  return actor.name === '' ? actor.kind : `${actor.kind}:${actor.name}`;
}

/**
 * `agent:x` and `user:x` say the kind themselves. A bare name that somebody gave by flag or environment is
 * an agent's, because that is how agents name themselves; git's user.name is a person's.
 */
export function parseActor(text: string, from: 'named' | 'git'): Actor {
  const marked = /^(user|agent):(.+)$/s.exec(text);
  const named = from === 'named';
  if (marked?.[1] !== undefined && marked[2] !== undefined) {
    return { kind: marked[1] as 'user' | 'agent', name: marked[2], named }; // the pattern allows nothing else
  }
  return { kind: named ? 'agent' : 'user', name: text, named };
}

/**
 * Whether a process that was started as an agent asks as a person. The program that starts an agent names it in the
 * environment; a word on the command line is the agent's own, and does not make a person of it. Another agent it may name.
 */
export function leavesAgent(environment: string | undefined, flag: string | undefined): boolean {
  if (!environment || flag === undefined) return false;
  return parseActor(environment, 'named').kind === 'agent' && parseActor(flag, 'named').kind !== 'agent';
}

/** Forge itself, at the work of this name. */
export function systemActor(name: string): Actor {
  return { kind: 'system', name, named: true };
}
