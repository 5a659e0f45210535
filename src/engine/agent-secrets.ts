import { createLineMask, maskSecrets } from '#domain/find-secrets.ts';
import { redactNamed } from '#domain/named-secrets.ts';
import { EXECUTOR_TYPES, pickEnvironment } from '#executors/executor-types.ts';
import { createRedactor, type Redactor } from '#process/redact.ts';
import { listGivenValues } from '#sync/given-values.ts';
import { listSettingSecrets } from './setting-secrets.ts';
import type { WorkPlace } from './work.ts';

/** Takes out of a text what must be in no database, no record, no log and no commit. */
export interface Secrets {
  readonly redact: (text: string) => string;
  /** Every string of it, keys too; what a key says to be secret counts for what is under it. */
  readonly redactValue: (value: unknown) => unknown;
  /** For the lines of one stream, one after the other. */
  readonly openLines: () => LineRedactor;
  /** From now on these values too. */
  readonly learn: (values: readonly string[]) => void;
}

/** `cut` says that the line goes on: what may be the beginning of a secret at its end is left out. */
export type LineRedactor = (line: { readonly text: string; readonly cut: boolean }) => string;

/**
 * For all that a process of an attempt says, an agent, a check or git: all that people give or gave the agents that have worked
 * on the task, because one finds what another has left there; the keys of every provider in Forge's own environment; and
 * what looks like a key.
 */
export async function findSecretsOf(
  {
    env,
    agents,
    store,
    home,
    clock,
  }: Pick<WorkPlace, 'env' | 'home' | 'clock'> & {
    readonly agents: Pick<WorkPlace['agents'], 'list'>;
    readonly store: Pick<WorkPlace['store'], 'listRuns'>;
  },
  { task_id, agent }: { readonly task_id: string; readonly agent: string | null },
): Promise<Secrets> {
  const runs = await store.listRuns({ task_id });
  const names = new Set([agent, ...runs.map((run) => run.agent)]);
  const given = agents.list().flatMap((one) => (names.has(one.name) ? Object.values(one.env) : []));
  const before = listGivenValues(home, { agents: names, now: clock.now() });
  return createSecrets([...given, ...before, ...listKeys(env)]);
}

function listKeys(env: WorkPlace['env']): string[] {
  const inherited = EXECUTOR_TYPES.flatMap(({ kind }) => Object.entries(pickEnvironment(kind, env)));
  return inherited.flatMap(([name, value]) => listSettingSecrets(name, value));
}

/** These values in all their forms, and what looks like a key. */
export function createSecrets(values: readonly string[]): Secrets {
  const all = new Set(values);
  let known = createRedactor([...all]);
  const holds = (text: string): boolean => known.holds(text);
  const redact = (text: string): string => maskSecrets(known.redact(text), holds);
  return {
    redact,
    redactValue: (value) => redactNamed(value, redact),
    openLines: () => {
      const mask = createLineMask(holds);
      return ({ text, cut }) => mask(cut ? redactCut(known, text) : known.redact(text));
    },
    learn(more) {
      if (more.every((value) => all.has(value))) return;
      for (const value of more) all.add(value);
      known = createRedactor([...all]);
    },
  };
}

/** What is held back could be the beginning of a secret, whose rest the cut took away. */
function redactCut(known: Redactor, text: string): string {
  const shown = known.push(known.redact(text));
  known.flush();
  return shown;
}
