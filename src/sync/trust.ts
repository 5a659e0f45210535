import { hash } from 'node:crypto';
import { join } from 'node:path';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Json, JsonObject } from '#kernel/json.ts';
import { escapeLine } from '#kernel/text.ts';
import type { TaskStore } from '#store/store.ts';
import { listAgentSettings } from './agent-settings.ts';
import { findCommandScripts } from './command-scripts.ts';
import { changeHomeFile, parseHomeObject, readHomeFile } from './home-file.ts';
import type { ProjectPaths } from './project-paths.ts';
import { toTrustKey } from './trust-key.ts';
import { readPersonalSettings, readRepositorySettings } from './work-settings.ts';

/**
 * A repository votes on nothing: a command that came with its files runs only after somebody has allowed exactly it,
 * for this repository, on this machine. What was allowed is in the home, where no repository can write.
 */
export interface TrustPlace {
  readonly home: string;
  readonly paths: Pick<ProjectPaths, 'root' | 'common_dir'>;
}

/** `changed`: the same words were allowed, but a script that they run, or a file that they name, is another one now. */
export type TrustState = 'trusted' | 'changed' | 'new';

export interface RepositoryCommand {
  readonly command: string;
  /** Which file or task brought it, and where in it. */
  readonly sources: readonly string[];
  /** Files of the repository that it runs; a changed byte in one of them asks again. */
  readonly scripts: readonly string[];
  readonly state: TrustState;
  /** Of exactly what was looked at: the words, and the scripts as they were. */
  readonly fingerprint: string;
}

const FILE = 'trust.json';
/** Whoever could write it could run programs. */
const PRIVATE = 0o600;
const HINT = 'forge trust';

/** Every command that the repository's files and open tasks bring, in the order of their first source. */
export async function listCommands(
  { paths, store }: { readonly paths: ProjectPaths; readonly store: Pick<TaskStore, 'listTasks'> },
  home: string,
): Promise<RepositoryCommand[]> {
  const sources = new Map<string, string[]>();
  const note = (command: string, source: string): void => {
    sources.set(command, [...(sources.get(command) ?? []), source]);
  };
  const { review, workspace } = readRepositorySettings(paths);
  for (const command of review.ci_steps) note(command, '.forge/config.json, review.ci_steps');
  for (const command of workspace.setup) note(command, '.forge/config.json, workspace.setup');
  for (const command of workspace.teardown) note(command, '.forge/config.json, workspace.teardown');
  for (const task of await store.listTasks({ open_only: true, include_archived: true, sort: 'id' })) {
    for (const command of task.review_config?.ci_steps ?? []) note(command, `task ${task.id}`);
  }
  const allowed = readAllowed({ home, paths });
  const found = [...sources].map(([command, from]) => ({
    command,
    sources: from,
    scripts: findCommandScripts(command, paths.root).map(({ path }) => path),
    ...judge(command, paths.root, allowed),
  }));
  return [...found, ...listForAgents(paths.root, allowed)];
}

/** What the programs of agents would read, in the same list: it names programs to be run, and gives leave. */
function listForAgents(root: string, allowed: JsonObject): RepositoryCommand[] {
  return listAgentSettings(root, { own: 'skip' }).flatMap(({ path, sha256 }) => {
    if (sha256 === undefined) return [];
    const command = `settings for agents in ${path}`;
    const fingerprint = toSettingsFingerprint(path, sha256);
    const isKnown = listTexts(allowed).includes(command);
    const state = Object.hasOwn(allowed, fingerprint) ? 'trusted' : isKnown ? 'changed' : 'new';
    return [{ command, sources: [path], scripts: [], state, fingerprint } as const];
  });
}

/** Whether everything that the programs of agents would read in a folder was allowed; so it is where there is nothing. */
export function trustsAgentSettings(place: TrustPlace, folder: string): boolean {
  const settings = listAgentSettings(folder);
  if (settings.length === 0) return true;
  const allowed = readAllowed(place);
  return settings.every(
    ({ path, sha256 }) => sha256 !== undefined && Object.hasOwn(allowed, toSettingsFingerprint(path, sha256)),
  );
}

function toSettingsFingerprint(path: string, sha256: string): string {
  return hash('sha256', JSON.stringify(['settings for agents', path, sha256]));
}

/** A command that the person wrote into the home's own settings is theirs. */
export function isTrusted(place: TrustPlace, command: string): boolean {
  return listUntrusted(place, [command]).length === 0;
}

/** Called before every start of a command that a repository may have brought. Throws untrusted. */
export function requireTrusted(place: TrustPlace, commands: readonly string[]): void {
  const refused = listUntrusted(place, commands);
  const [first] = refused;
  if (first === undefined) return;
  const more = refused.length === 1 ? '' : ` and ${refused.length - 1} more`;
  throw new ForgeError('untrusted', `Nobody has trusted this command here: ${escapeLine(first)}${more}`, {
    hint: HINT,
    details: { commands: refused },
  });
}

/** Allows exactly these commands, with the scripts that they run as they are now. Idempotent; runs nothing. */
export function trustCommands(
  place: TrustPlace,
  commands: readonly string[],
  who: { readonly now: number; readonly by: string },
): Promise<void> {
  const { root } = place.paths;
  const listed = commands.map((command) => ({ command, fingerprint: toFingerprint(command, root) }));
  return trustListed(place, listed, who);
}

/** The same for what somebody was shown: a script that was changed meanwhile is not allowed by it. */
export function trustListed(
  { home, paths }: TrustPlace,
  listed: readonly Pick<RepositoryCommand, 'command' | 'fingerprint'>[],
  { now, by }: { readonly now: number; readonly by: string },
): Promise<void> {
  const key = toTrustKey(paths);
  return changeHomeFile(
    home,
    FILE,
    (text) => {
      const file = parseTrust(text, home);
      const known = toObject(file.repositories[key]);
      const added = listed
        .filter(({ fingerprint }) => !Object.hasOwn(known, fingerprint))
        .map(({ fingerprint, command }) => [fingerprint, { command, trusted_at: toIso(now), by }] as const);
      if (added.length === 0) return { text: text ?? '', answer: undefined };
      const entry = { ...known, ...Object.fromEntries(added) };
      return { text: toText(file, { ...file.repositories, [key]: entry }), answer: undefined };
    },
    { mode: PRIVATE },
  );
}

/** Takes back everything that was allowed here, and gives its commands. Idempotent. */
export function revokeTrust({ home, paths }: TrustPlace): Promise<string[]> {
  const key = toTrustKey(paths);
  return changeHomeFile(
    home,
    FILE,
    (text) => {
      const file = parseTrust(text, home);
      const { [key]: gone, ...rest } = file.repositories;
      const answer = listTexts(toObject(gone));
      return answer.length === 0 ? { text: text ?? '', answer } : { text: toText(file, rest), answer };
    },
    { mode: PRIVATE },
  );
}

function listUntrusted(place: TrustPlace, commands: readonly string[]): string[] {
  if (commands.length === 0) return [];
  const allowed = readAllowed(place);
  const refused = commands.filter((command) => judge(command, place.paths.root, allowed).state !== 'trusted');
  if (refused.length === 0) return [];
  const { review, workspace } = readPersonalSettings(place.home);
  const own = [...review.ci_steps, ...workspace.setup, ...workspace.teardown];
  return refused.filter((command) => !own.includes(command));
}

function judge(
  command: string,
  root: string,
  allowed: JsonObject,
): Pick<RepositoryCommand, 'state' | 'fingerprint'> {
  const fingerprint = toFingerprint(command, root);
  if (Object.hasOwn(allowed, fingerprint)) return { state: 'trusted', fingerprint };
  return { state: listTexts(allowed).includes(command) ? 'changed' : 'new', fingerprint };
}

/** The words and what they run. The first entry keeps commands apart from whatever else may be trusted one day. */
function toFingerprint(command: string, root: string): string {
  const scripts = findCommandScripts(command, root).map(({ path, sha256 }) => [path, sha256]);
  return hash('sha256', JSON.stringify(['command', command, scripts]));
}

function readAllowed({ home, paths }: TrustPlace): JsonObject {
  return toObject(parseTrust(readHomeFile(home, FILE), home).repositories[toTrustKey(paths)]);
}

interface TrustFile {
  readonly rest: JsonObject;
  readonly repositories: JsonObject;
}

/** Throws for a file that cannot be read: what is not known is not trusted. */
function parseTrust(text: string | undefined, home: string): TrustFile {
  const { repositories, ...rest } = text === undefined ? {} : parseHomeObject(text, join(home, FILE));
  return { rest, repositories: toObject(repositories) };
}

function toText({ rest }: TrustFile, repositories: JsonObject): string {
  return `${JSON.stringify({ version: 1, ...rest, repositories }, null, 2)}\n`;
}

function toObject(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function listTexts(allowed: JsonObject): string[] {
  return Object.values(allowed).flatMap((one) => {
    const { command } = toObject(one);
    return typeof command === 'string' ? [command] : [];
  });
}
