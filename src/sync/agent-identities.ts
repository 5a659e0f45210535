import { join } from 'node:path';
import type { ExecutorProfile } from '#contract/executor-profile.ts';
import { assert } from '#kernel/assert.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/json.ts';
import {
  type Environment,
  getProfile,
  listProfiles,
  mergeProfile,
  type NamedProfile,
  profilesVersion,
  type ProfileWish,
  resolveProfile,
} from './agent-profiles.ts';
import {
  changeHomeFile,
  type HomeLine,
  homeFileVersion,
  parseHomeLines,
  readHomeFile,
  toHomeLine,
  toHomeText,
} from './home-file.ts';

/** Somebody who can claim, known on this machine whatever the project. */
export interface AgentIdentity {
  readonly name: string;
  readonly description: string;
  readonly created_at: string;
  /** Since when it claims nothing; null while it may. */
  readonly paused_at: string | null;
  /** When a person last resumed it, or changed how it is started: faults from before count no more. */
  readonly resumed_at: string | null;
  /** How Forge starts it; null for one that somebody else starts. */
  readonly profile: ExecutorProfile | null;
  /** The named profile that this begins with. */
  readonly profile_name: string | null;
  /** What its program gets besides; may hold secrets. */
  readonly env: Environment;
  /** How many runs of it there may be at once. */
  readonly max: number | null;
  /** One more with every change. */
  readonly version: number;
}

const FILE = 'agents.jsonl';

/** In the order they were added. */
export function listAgents(home: string): AgentIdentity[] {
  return readAgents(parseHomeLines(readHomeFile(home, FILE), join(home, FILE)), home).map(
    ({ agent }) => agent,
  );
}

/** Changes whenever `listAgents` may answer otherwise. */
export function agentsVersion(home: string): string {
  const version = homeFileVersion(home, FILE);
  return version === undefined ? 'none' : `${version} ${profilesVersion(home)}`;
}

export type AddedAgent = AgentIdentity & { readonly outcome: 'added' | 'updated' | 'unchanged' };

export interface NewAgent {
  readonly name: string;
  readonly description?: string | undefined;
  /** Left out for one that Forge does not start. */
  readonly wish?: ProfileWish | undefined;
  readonly env?: Environment | undefined;
  readonly max?: number | undefined;
  /** Refused with version_conflict unless it is still this one's. */
  readonly version?: number | undefined;
  readonly now: number;
  /** Throws for a set-up that its executor could not run by. */
  readonly check?: ((profile: ExecutorProfile) => void) | undefined;
}

/** The log says `user:ann`, `agent:worker-1` and `system`: an agent of such a name would be read as another person. */
function refuseTakenName(name: string): void {
  if (name.toLowerCase() !== 'system' && !/^(?:user|agent|system):/i.test(name)) return;
  throw new ForgeError(
    'invalid_input',
    `An agent cannot be called ${JSON.stringify(name)}: the log uses such names`,
    {
      hint: 'forge agent add worker-1',
      details: { name },
    },
  );
}

/** The name of an agent is in commits, logs and tasks. It is not said again. */
async function refuseSecretName(name: string): Promise<void> {
  // Here, because most commands that read agents add none.
  const { findSecrets } = await import('#domain/find-secrets.ts');
  const [what] = findSecrets(name);
  if (what === undefined) return;
  throw new ForgeError(
    'invalid_input',
    `The name of the agent looks like ${what}: commits of its work would have it`,
    { hint: 'forge agent add worker-1; a key of its own is given by --env', details: { field: 'name' } },
  );
}

/**
 * Idempotent; what is given replaces what is there. Keys that others wrote stay. Throws invalid_input for a set-up
 * without an executor, and not_found for a profile that is not there.
 */
export async function addAgent(home: string, added: NewAgent): Promise<AddedAgent> {
  const { name, description, wish, env, max, now } = added;
  refuseTakenName(name);
  await refuseSecretName(name);
  if (wish?.from !== undefined) getProfile(home, wish.from);
  return changeHomeFile(home, FILE, (text): { text: string; answer: AddedAgent } => {
    const lines = parseHomeLines(text, join(home, FILE));
    const known = readAgents(lines, home).find(({ agent }) => agent.name === name);
    if (added.version !== undefined) checkVersion(name, known?.agent.version, added.version);
    const before = known?.value ?? { name, description: '', created_at: toIso(now) };
    const wanted = {
      ...before,
      ...(description !== undefined && { description }),
      ...(wish !== undefined && { profile: mergeProfile(before['profile'], wish) }),
      ...(env !== undefined && { env }),
      ...(max !== undefined && { max }),
    };
    const isSame = known !== undefined && toHomeLine(wanted).text === JSON.stringify(known.value);
    // Another set-up has not failed yet.
    const changed = wish === undefined && env === undefined ? wanted : { ...wanted, resumed_at: toIso(now) };
    const line = toHomeLine(known === undefined || isSame ? wanted : bump(changed, known));
    const agent = readAgents([line], home)[0]?.agent;
    assert(agent !== undefined, 'a line with a name is an agent');
    checkAgent(agent, added);
    if (known === undefined)
      return { text: toHomeText([...lines, line]), answer: { ...agent, outcome: 'added' } };
    if (isSame) return { text: text ?? '', answer: { ...agent, outcome: 'unchanged' } };
    return { text: toHomeText(lines.with(known.at, line)), answer: { ...agent, outcome: 'updated' } };
  });
}

function checkVersion(name: string, version: number | undefined, wanted: number): void {
  if (version === wanted) return;
  const has = version === undefined ? 'is not there' : `has version ${version}, not ${wanted}`;
  throw new ForgeError('version_conflict', `Agent ${JSON.stringify(name)} ${has}: somebody changed it`, {
    hint: `forge agent show ${JSON.stringify(name)}`,
    details: { name, version: version ?? null },
  });
}

/** A line that says no version is the first. */
function bump(value: JsonObject, { agent }: Pick<ReadAgent, 'agent'>): JsonObject {
  return { ...value, version: agent.version + 1 };
}

function checkAgent({ name, profile }: AgentIdentity, { wish, env, max, check }: NewAgent): void {
  if (profile !== null) return check?.(profile);
  if (wish === undefined && env === undefined && max === undefined) return;
  throw new ForgeError('invalid_input', `Agent ${JSON.stringify(name)} has no executor to be started by`, {
    hint: `forge agent add ${JSON.stringify(name)} --executor claude`,
    details: { name },
  });
}

/** Tasks that the agent owns stay its own. Throws not_found. */
export function removeAgent(home: string, name: string): Promise<AgentIdentity> {
  return changeKnown(home, name, (known, lines) => ({
    lines: lines.toSpliced(known.at, 1),
    answer: known.agent,
  }));
}

/** Throws not_found. */
export function getAgent(home: string, name: string): AgentIdentity {
  return findKnown(parseHomeLines(readHomeFile(home, FILE), join(home, FILE)), home, name).agent;
}

/**
 * While paused it claims nothing; what it has stays its own. To resume it also ends its suspension, which only the rows
 * of the projects know. Throws not_found.
 */
export function pauseAgent(
  home: string,
  { name, paused, now }: { name: string; paused: boolean; now: number },
): Promise<AgentIdentity> {
  return changeKnown(home, name, (known, lines) => {
    if (paused && known.agent.paused_at !== null) return { lines, answer: known.agent };
    const paused_at = paused ? toIso(now) : null;
    const resumed_at = paused ? known.agent.resumed_at : toIso(now);
    const line = toHomeLine(bump({ ...known.value, paused_at, resumed_at }, known));
    const version = known.agent.version + 1;
    const answer = { ...known.agent, paused_at, resumed_at, version };
    return { lines: lines.with(known.at, line), answer };
  });
}

function changeKnown<T>(
  home: string,
  name: string,
  change: (known: ReadAgent, lines: readonly HomeLine[]) => { lines: readonly HomeLine[]; answer: T },
): Promise<T> {
  return changeHomeFile(home, FILE, (text) => {
    const before = parseHomeLines(text, join(home, FILE));
    const { lines, answer } = change(findKnown(before, home, name), before);
    return { text: lines === before ? (text ?? '') : toHomeText(lines), answer };
  });
}

function findKnown(lines: readonly HomeLine[], home: string, name: string): ReadAgent {
  const known = readAgents(lines, home).find(({ agent }) => agent.name === name);
  if (known !== undefined) return known;
  throw new ForgeError('not_found', `No agent ${JSON.stringify(name)} in ${join(home, FILE)}`, {
    hint: 'forge agent list',
    details: { name },
  });
}

interface ReadAgent {
  readonly at: number;
  readonly value: JsonObject;
  readonly agent: AgentIdentity;
}

function readAgents(lines: readonly HomeLine[], home: string): ReadAgent[] {
  let profiles: NamedProfile[] | undefined;
  const findNamed = (name: string): NamedProfile | undefined =>
    (profiles ??= listProfiles(home)).find((one) => one.name === name);
  return lines.flatMap(({ value }, at) => {
    if (value === undefined) return [];
    const { name, description, created_at, paused_at, resumed_at, max, version } = value;
    if (typeof name !== 'string' || name === '') {
      throw new ForgeError('invalid_input', `${join(home, FILE)}, line ${at + 1}, has no name`, {
        hint: 'Correct it by hand, or move it away and start anew',
        details: { path: join(home, FILE), line: at + 1 },
      });
    }
    const { profile, env, from } = resolveProfile(value, findNamed);
    const agent = {
      name,
      description: typeof description === 'string' ? description : '',
      created_at: typeof created_at === 'string' ? created_at : '',
      paused_at: typeof paused_at === 'string' ? paused_at : null,
      resumed_at: typeof resumed_at === 'string' ? resumed_at : null,
      profile,
      profile_name: from,
      env,
      max: typeof max === 'number' ? max : null,
      version: typeof version === 'number' ? version : 1,
    };
    return [{ at, value, agent }];
  });
}
