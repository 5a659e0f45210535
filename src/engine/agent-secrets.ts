import { pickEnvironment } from '#executors/executor-types.ts';
import { mapStrings } from '#kernel/map-strings.ts';
import { createRedactor } from '#process/redact.ts';
import type { ManagedAgent, WorkPlace } from './work.ts';

/** Takes what an agent must not tell out of whatever it says. */
export interface AgentSecrets {
  readonly redact: (text: string) => string;
  /** Every string of it, keys too. */
  readonly redactValue: (value: unknown) => unknown;
}

/** Of Forge's own environment its program gets settings as well as keys; the settings may be told. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH/i;

/** All that the person gave the agent, and the keys that it has of Forge's own environment. */
export function findAgentSecrets({ env }: Pick<WorkPlace, 'env'>, agent: ManagedAgent): AgentSecrets {
  const inherited = Object.entries(pickEnvironment(agent.profile.executor, env));
  const secrets = createRedactor([
    ...Object.values(agent.env),
    ...inherited.flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : [])),
  ]);
  return {
    redact: (text) => secrets.redact(text),
    redactValue: (value) => mapStrings(value, (text) => secrets.redact(text)),
  };
}
