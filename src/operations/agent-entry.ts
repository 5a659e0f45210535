import type { AgentEntry, ProfileEntry } from '#contract/agent-operations.ts';
import type { ExecutorProfile } from '#contract/executor-profile.ts';
import { escapeLine } from '#kernel/text.ts';
import type { AgentIdentity } from '#sync/agent-identities.ts';
import type { Environment, NamedProfile, ProfileWish } from '#sync/agent-profiles.ts';

/** An agent as everybody may see it: values of its environment stay where they are. */
export function toAgentEntry({
  name,
  description,
  created_at,
  paused_at,
  ...agent
}: AgentIdentity): AgentEntry {
  const { profile, profile_name, env, max, version } = agent;
  const shown = { name, description, created_at, paused_at, profile, profile_name };
  return { ...shown, env: Object.keys(env), max, version };
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
  const { executor, command, model, effort, permissions, allow } = input;
  const wish = {
    from: input.profile,
    executor,
    command,
    model,
    effort,
    permissions,
    allow: allow?.filter((text) => text.trim() !== ''),
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
}: ExecutorProfile): string {
  return [executor, model, effort, permissions, ...allow]
    .flatMap((part) => part ?? [])
    .map(escapeLine)
    .join(', ');
}

/** Lines under the name of an agent or of a profile. */
export function setUpLines(profile: ExecutorProfile | null, env: readonly string[]): string[] {
  if (profile === null) return [];
  const { executor, command, model, effort, permissions, allow = [] } = profile;
  return [
    `  executor     ${escapeLine(executor)}`,
    ...(command === undefined ? [] : [`  command      ${escapeLine(JSON.stringify(command))}`]),
    ...(model === undefined ? [] : [`  model        ${escapeLine(model)}`]),
    ...(effort === undefined ? [] : [`  effort       ${escapeLine(effort)}`]),
    `  permissions  ${permissions}`,
    ...allow.map((text) => `  allow        ${escapeLine(text)}`),
    ...(env.length === 0 ? [] : [`  environment  ${env.map(escapeLine).join(', ')}`]),
  ];
}
