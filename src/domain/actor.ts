/** Who asks: a name kept word for word, and whether a person or an agent bears it. */
export interface Actor {
  readonly kind: 'user' | 'agent' | 'system';
  readonly name: string;
  /** True when the caller named itself (flag or environment), false when git's user.name was taken. */
  readonly named: boolean;
}

/** As the transition log and the events write it: `agent:worker-1`, and `system` for what a workflow does by itself. */
export function toTriggeredBy(actor: Pick<Actor, 'kind' | 'name'>): string {
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

/** Whom a process names on its command line, besides the one that it was started as. */
export type NamedBeside =
  /** Nobody else, or it was not started as an agent. */
  | 'itself'
  /** A name that only an agent may bear: it has to be a known one. */
  | 'other_agent'
  | 'person';

/**
 * The program that starts an agent names it in the environment; a word on the command line is the agent's own, and does
 * not make a person of it. A bare name may be a person's too, so that another agent is one that is registered.
 */
export function judgeNamed(environment: string | undefined, flag: string | undefined): NamedBeside {
  if (!environment || flag === undefined) return 'itself';
  const [started, named] = [parseActor(environment, 'named'), parseActor(flag, 'named')];
  if (started.kind !== 'agent') return 'itself';
  if (named.kind !== 'agent') return 'person';
  return named.name === started.name ? 'itself' : 'other_agent';
}

/** Forge itself, at the work of this name. */
export function systemActor(name: string): Actor {
  return { kind: 'system', name, named: true };
}
