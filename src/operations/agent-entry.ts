import type { AgentEntry, ProfileEntry } from '#contract/agent-operations.ts';
import type { SuspendedAgent } from '#contract/suspension.ts';
import type { ExecutorProfile } from '#contract/executor-profile.ts';
import { mapSuspended } from '#engine/list-suspended.ts';
import { escapeLine } from '#kernel/text.ts';
import type { AgentIdentity } from '#sync/agent-identities.ts';
import type { Environment, NamedProfile, ProfileWish } from '#sync/agent-profiles.ts';
import type { OperationContext, TextView } from './operation.ts';
import { wrapWords } from './text-width.ts';

/** An agent as everybody may see it: values of its environment stay where they are. */
export function toAgentEntry(
  { name, description, created_at, paused_at, ...agent }: AgentIdentity,
  suspended?: ReadonlyMap<string, SuspendedAgent>,
): AgentEntry {
  const { profile, profile_name, env, max, version } = agent;
  const shown = { name, description, created_at, paused_at, profile, profile_name };
  return { ...shown, env: Object.keys(env), max, suspended: suspended?.get(name) ?? null, version };
}

/** The same with what the projects of this machine know of it. */
export function toCurrentEntry(
  { place, cwd, clock }: Pick<OperationContext, 'place' | 'cwd' | 'clock'>,
  agent: AgentIdentity,
): AgentEntry {
  return toAgentEntry(agent, mapSuspended({ place, cwd, now: clock.now() }));
}

/** `suspended until 2026-03-01T12:00:02.000Z: not logged in`; a time that has passed is told as such. */
export function describeSuspended({ until, reason }: SuspendedAgent, now: number): string {
  const when = Date.parse(until) > now ? `suspended until ${until}` : 'suspended, may be tried again';
  return `${when}: ${reason}`;
}

/** Under a table: who is suspended and why, whole, and the command that ends it. */
export function suspendedLines(
  suspended: SuspendedAgent,
  { columns, now }: Pick<TextView, 'columns' | 'now'>,
): string[] {
  const { agent, command } = suspended;
  const told = `${agent} is ${describeSuspended(suspended, now)}`;
  return [...wrapWords(escapeLine(told), { columns, indent: '' }), `  try: ${escapeLine(command)}`];
}

export function toProfileEntry({ name, description, profile, env, created_at }: NamedProfile): ProfileEntry {
  return { name, description, profile, env: Object.keys(env), created_at };
}

interface SetUp extends Omit<ProfileWish, 'from'> {
  readonly profile?: string | undefined;
  readonly env?: readonly string[] | undefined;
}

/** What the input says of a set-up; undefined where it says nothing. */
export function readSetUp(input: SetUp): {
  readonly wish: ProfileWish | undefined;
  readonly env: Environment | undefined;
} {
  const { executor, command, model, effort, permissions, allow, walls } = input;
  const wish = {
    from: input.profile,
    executor,
    command,
    model,
    effort,
    permissions,
    allow: allow?.filter((text) => text.trim() !== ''),
    walls,
  };
  const given = Object.values(wish).some((value) => value !== undefined);
  return { wish: given ? wish : undefined, env: input.env && readVariables(input.env) };
}

function readVariables(texts: readonly string[]): Environment {
  return Object.fromEntries(
    texts.map((text) => {
      const equals = text.indexOf('=');
      return [text.slice(0, equals), text.slice(equals + 1)];
    }),
  );
}

/** `claude, opus, edits` */
export function describeProfile({
  executor,
  model,
  effort,
  permissions,
  allow = [],
  walls,
}: ExecutorProfile): string {
  const shown = walls === undefined ? undefined : `walls ${walls}`;
  return [executor, model, effort, permissions, ...allow, shown]
    .flatMap((part) => part ?? [])
    .map(escapeLine)
    .join(', ');
}

/** Lines under the name of an agent or of a profile. */
export function setUpLines(profile: ExecutorProfile | null, env: readonly string[]): string[] {
  if (profile === null) return [];
  const { executor, command, model, effort, permissions, allow = [], walls } = profile;
  return [
    `  executor     ${escapeLine(executor)}`,
    ...(command === undefined ? [] : [`  command      ${escapeLine(JSON.stringify(command))}`]),
    ...(model === undefined ? [] : [`  model        ${escapeLine(model)}`]),
    ...(effort === undefined ? [] : [`  effort       ${escapeLine(effort)}`]),
    `  permissions  ${permissions}`,
    ...(walls === undefined ? [] : [`  walls        ${walls}`]),
    ...allow.map((text) => `  allow        ${escapeLine(text)}`),
    ...(env.length === 0 ? [] : [`  environment  ${env.map(escapeLine).join(', ')}`]),
  ];
}
