import { join } from 'node:path';
import type { ExecutorProfile, PermissionPolicy, WallsWish } from '#contract/executor-profile.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { emptyObject, type Json, type JsonObject } from '#kernel/json.ts';
import {
  changeHomeFile,
  type HomeLine,
  homeFileVersion,
  parseHomeLines,
  readHomeFile,
  toHomeLine,
  toHomeText,
} from './home-file.ts';

/** A named set-up that agents refer to, known on this machine. */
export interface NamedProfile {
  readonly name: string;
  readonly description: string;
  readonly profile: ExecutorProfile;
  readonly env: Environment;
  readonly created_at: string;
}

/** Names and values; no prototype. Values may be secrets and are never shown. */
export type Environment = Readonly<Record<string, string>>;

/** What somebody says of a set-up; what is left out stays as it was. */
export interface ProfileWish {
  /** The named profile to begin with. */
  readonly from?: string | undefined;
  readonly executor?: string | undefined;
  readonly command?: readonly string[] | undefined;
  readonly model?: string | undefined;
  readonly effort?: string | undefined;
  readonly permissions?: PermissionPolicy | undefined;
  readonly walls?: WallsWish | undefined;
  readonly allow?: readonly string[] | undefined;
}

const FILE = 'profiles.jsonl';
const POLICIES: readonly string[] = ['ask', 'edits', 'all'] satisfies PermissionPolicy[];

/** In the order they were added. */
export function listProfiles(home: string): NamedProfile[] {
  return readProfiles(parseLines(home)).map(({ entry }) => entry);
}

/** Changes whenever `listProfiles` may answer otherwise. */
export function profilesVersion(home: string): string {
  return homeFileVersion(home, FILE) ?? 'none';
}

/** Throws not_found. */
export function getProfile(home: string, name: string): NamedProfile {
  return findKnown(parseLines(home), home, name).entry;
}

export type AddedProfile = NamedProfile & { readonly outcome: 'added' | 'updated' | 'unchanged' };

export interface NewProfile {
  readonly name: string;
  readonly description?: string | undefined;
  readonly wish: ProfileWish;
  readonly env?: Environment | undefined;
  readonly now: number;
  /** Throws for a set-up that its executor could not run by. */
  readonly check: (profile: ExecutorProfile) => void;
}

/** Idempotent; what is given replaces what is there. Keys that others wrote stay. */
export function addProfile(
  home: string,
  { name, description, wish, env, now, check }: NewProfile,
): Promise<AddedProfile> {
  return changeHomeFile(home, FILE, (text): { text: string; answer: AddedProfile } => {
    const lines = parseHomeLines(text, join(home, FILE));
    const known = readProfiles(lines).find(({ entry }) => entry.name === name);
    const before = known?.value ?? { name, created_at: toIso(now) };
    const value: JsonObject = {
      ...before,
      ...(description !== undefined && { description }),
      profile: mergeProfile(before['profile'], wish),
      ...(env !== undefined && { env }),
    };
    const line = toHomeLine(value);
    const [made] = readProfiles([line]);
    if (made === undefined) throw toUnnamed(name);
    check(made.entry.profile);
    if (known === undefined)
      return { text: toHomeText([...lines, line]), answer: { ...made.entry, outcome: 'added' } };
    if (line.text === JSON.stringify(known.value))
      return { text: text ?? '', answer: { ...known.entry, outcome: 'unchanged' } };
    return {
      text: toHomeText(lines.with(known.at, line)),
      answer: { ...made.entry, outcome: 'updated' },
    };
  });
}

/** Throws not_found. Whether an agent still needs it is for the caller to know. */
export function removeProfile(home: string, name: string): Promise<NamedProfile> {
  return changeHomeFile(home, FILE, (text) => {
    const lines = parseHomeLines(text, join(home, FILE));
    const known = findKnown(lines, home, name);
    return { text: toHomeText(lines.toSpliced(known.at, 1)), answer: known.entry };
  });
}

/** The stored form after a wish. Another executor or another beginning starts anew: its options mean nothing here. */
export function mergeProfile(stored: Json | undefined, wish: ProfileWish): JsonObject {
  const { from, executor } = wish;
  const before = toObject(stored);
  const isOther =
    (executor !== undefined && executor !== before['executor']) ||
    (from !== undefined && from !== before['from']);
  const given = Object.entries(wish).filter(([, value]) => value !== undefined);
  return { ...(isOther ? {} : before), ...(Object.fromEntries(given) as JsonObject) }; // texts and lists of them
}

export interface ResolvedProfile {
  readonly profile: ExecutorProfile | null;
  readonly env: Environment;
  /** The named profile that it begins with. */
  readonly from: string | null;
}

/**
 * What a line of agents.jsonl means. Null where it has no executor, or begins with a profile that is not there: such
 * an agent is not Forge's to start. `named` is asked only where a line wants to know.
 */
export function resolveProfile(
  { profile, env }: { readonly profile?: Json | undefined; readonly env?: Json | undefined },
  named: (name: string) => NamedProfile | undefined,
): ResolvedProfile {
  const own = toObject(profile);
  const from = typeof own['from'] === 'string' ? own['from'] : null;
  const base = from === null ? undefined : named(from);
  const isLost = from !== null && base === undefined;
  return {
    profile: isLost ? null : readProfile({ ...base?.profile, ...own }),
    env: Object.assign(emptyObject<string>(), base?.env, readEnvironment(env)),
    from,
  };
}

function parseLines(home: string): HomeLine[] {
  return parseHomeLines(readHomeFile(home, FILE), join(home, FILE));
}

interface ReadProfile {
  readonly at: number;
  readonly value: JsonObject;
  readonly entry: NamedProfile;
}

/** A line without a name or an executor is nobody's profile. */
function readProfiles(lines: readonly HomeLine[]): ReadProfile[] {
  return lines.flatMap(({ value }, at) => {
    const profile = readProfile(toObject(value?.['profile']));
    if (value === undefined || typeof value['name'] !== 'string' || profile === null) return [];
    const { name, description, created_at, env } = value;
    const entry = {
      name,
      description: typeof description === 'string' ? description : '',
      profile,
      env: readEnvironment(env),
      created_at: typeof created_at === 'string' ? created_at : '',
    };
    return [{ at, value, entry }];
  });
}

function readProfile(value: Readonly<Record<string, unknown>>): ExecutorProfile | null {
  const { executor, command, model, effort, permissions, allow, walls } = value;
  if (typeof executor !== 'string' || executor === '') return null;
  return {
    executor,
    ...(Array.isArray(command) && { command: command.filter((word) => typeof word === 'string') }),
    ...(typeof model === 'string' && { model }),
    ...(typeof effort === 'string' && { effort }),
    permissions: isPolicy(permissions) ? permissions : 'edits',
    ...((walls === 'on' || walls === 'off') && { walls }),
    ...(Array.isArray(allow) &&
      allow.length > 0 && { allow: allow.filter((text) => typeof text === 'string') }),
  };
}

function isPolicy(value: unknown): value is PermissionPolicy {
  return typeof value === 'string' && POLICIES.includes(value);
}

function readEnvironment(value: Json | undefined): Environment {
  const env = emptyObject<string>();
  for (const [name, one] of Object.entries(toObject(value))) if (typeof one === 'string') env[name] = one;
  return env;
}

function findKnown(lines: readonly HomeLine[], home: string, name: string): ReadProfile {
  const known = readProfiles(lines).find(({ entry }) => entry.name === name);
  if (known !== undefined) return known;
  throw new ForgeError('not_found', `No profile ${JSON.stringify(name)} in ${join(home, FILE)}`, {
    hint: 'forge profile list',
    details: { name },
  });
}

function toUnnamed(name: string): ForgeError {
  return new ForgeError('invalid_input', `Profile ${JSON.stringify(name)} names no executor`, {
    hint: `forge profile add ${JSON.stringify(name)} --executor claude`,
    details: { name },
  });
}

function toObject(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
