import { hash } from 'node:crypto';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Json, JsonObject } from '#kernel/json.ts';
import { nameFiles } from '#kernel/name-files.ts';
import { escapeLine } from '#kernel/text.ts';
import type { AttemptStore } from '#store/attempt-store.ts';
import type { TaskStore } from '#store/store.ts';
import { listAgentSettings } from './agent-settings.ts';
import {
  type CommandScript,
  findCommandScripts,
  listCommandScripts,
  type ScriptPlace,
} from './command-scripts.ts';
import { changeHomeFile, parseHomeObject, readHomeFile } from './home-file.ts';
import type { ProjectPaths } from './project-paths.ts';
import { toTrustKey } from './trust-key.ts';
import type { Machine } from './machine.ts';
import { findGatePaths } from './gate-files.ts';
import { readPersonalSettings, readRepositorySettings } from './work-settings.ts';

/**
 * A repository votes on nothing: a command that came with its files runs only after somebody has allowed exactly it,
 * for this repository, on this machine. What was allowed is in the home, where no repository can write.
 */
export interface TrustPlace {
  readonly home: string;
  readonly paths: Pick<ProjectPaths, 'root' | 'common_dir'>;
  /** Which commands are the person's own and need no trust; by the home's settings where it is left out. */
  readonly owns?: ((command: string) => boolean) | undefined;
}

/** `changed`: the same words were allowed, but a script that they run, or a file that they name, is another one now. */
/** `never`: a link, or more files than a person would look through, so that a yes would say nothing of tomorrow. */
export type TrustState = 'trusted' | 'changed' | 'new' | 'never';

export interface RepositoryCommand {
  readonly command: string;
  /** Which file or task brought it, and where in it. */
  readonly sources: readonly string[];
  /** Files of the repository that it runs; a changed byte in one of them asks again. */
  readonly scripts: readonly string[];
  readonly state: TrustState;
  /** Of exactly what was looked at: the words, and the scripts as they were. */
  readonly fingerprint: string;
  /** Those scripts by their contents. */
  readonly digests: readonly CommandScript[];
}

/** A command that would run what no person has allowed. */
export interface UntrustedCommand {
  readonly command: string;
  /** Those of its scripts that are not as they were allowed; none where the command itself is new. */
  readonly scripts: readonly string[];
}

const FILE = 'trust.json';
const HINT = 'forge trust';

/**
 * Every command that the repository's files and open tasks bring, in the order of their first source; then those that
 * would run other scripts in the folder of an unfinished attempt.
 */
export async function listCommands(
  { paths, store }: { readonly paths: ProjectPaths; readonly store: CommandStore },
  home: string,
  machine: Pick<Machine, 'env'>,
): Promise<RepositoryCommand[]> {
  const sources = new Map<string, string[]>();
  const note = (command: string, source: string): void => {
    sources.set(command, [...(sources.get(command) ?? []), source]);
  };
  const { review, workspace } = readRepositorySettings(
    (await findGatePaths({ paths, store }, machine)).settings,
  );
  for (const command of review.ci_steps) note(command, '.forge/config.json, review.ci_steps');
  for (const command of workspace.setup) note(command, '.forge/config.json, workspace.setup');
  for (const command of workspace.teardown) note(command, '.forge/config.json, workspace.teardown');
  const tasks = await store.listTasks({ open_only: true, include_archived: true, sort: 'id' });
  for (const task of tasks) {
    for (const command of task.review_config?.ci_steps ?? []) note(command, `task ${task.id}`);
  }
  const allowed = readAllowed({ home, paths });
  const root = { root: paths.root };
  const found: RepositoryCommand[] = [];
  for (const [command, from] of sources) found.push(await look(command, { from, allowed, place: root }));
  for (const { id, task_id, path: folder } of await store.listAttempts({ state: 'active' })) {
    const own = tasks.find((task) => task.id === task_id)?.review_config?.ci_steps ?? review.ci_steps;
    for (const command of [...workspace.setup, ...own]) {
      const from = [`attempt ${id.slice(0, 8)} at ${task_id}, ${folder}`];
      const one = await look(command, { from, allowed, place: { ...root, folder } });
      if (one.state !== 'trusted' && !found.some(({ fingerprint }) => fingerprint === one.fingerprint))
        found.push(one);
    }
  }
  return [...found, ...listForAgents(paths.root, allowed)];
}

/** What the list is made of. */
type CommandStore = Pick<TaskStore, 'listTasks'> & Pick<AttemptStore, 'listAttempts'>;

async function look(
  command: string,
  {
    from,
    allowed,
    place,
  }: { readonly from: readonly string[]; readonly allowed: JsonObject; readonly place: ScriptPlace },
): Promise<RepositoryCommand> {
  const digests = await findCommandScripts(command, place);
  const there = digests.filter(({ sha256 }) => sha256 !== 'absent');
  return {
    command,
    sources: from,
    scripts: [...new Set(there.map(({ path }) => path))],
    state: judge(command, digests, allowed).state,
    fingerprint: toFingerprint(command, digests),
    digests,
  };
}

/** What the programs of agents would read, in the same list: it names programs to be run, and gives leave. */
function listForAgents(root: string, allowed: JsonObject): RepositoryCommand[] {
  return listAgentSettings(root, { own: 'skip' }).map(({ path, sha256 }) => {
    const command = `settings for agents in ${path}`;
    const shown = { command, sources: [path], scripts: [], digests: [] };
    if (sha256 === undefined) return { ...shown, state: 'never', fingerprint: '' };
    const fingerprint = toSettingsFingerprint(path, sha256);
    const isKnown = listTexts(allowed).includes(command);
    const state = Object.hasOwn(allowed, fingerprint) ? 'trusted' : isKnown ? 'changed' : 'new';
    return { ...shown, state, fingerprint };
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
export async function isTrusted(place: TrustPlace, command: string): Promise<boolean> {
  return (await listUntrusted(place, [command])).length === 0;
}

/**
 * Called before every start of a command that a repository may have brought, with the folder in which it is to run.
 * Throws untrusted.
 */
export async function requireTrusted(
  place: TrustPlace,
  commands: readonly string[],
  folder?: string,
): Promise<void> {
  const refused = await listUntrusted(place, commands, folder);
  const [first] = refused;
  if (first === undefined) return;
  const more = refused.length === 1 ? '' : ` and ${refused.length - 1} more`;
  const changed = first.scripts.length === 0 ? '' : `, because of ${nameFiles(first.scripts)}`;
  throw new ForgeError(
    'untrusted',
    `Nobody has trusted this command here: ${escapeLine(first.command)}${more}${changed}`,
    {
      hint: HINT,
      details: {
        commands: refused.map(({ command }) => command),
        scripts: refused.flatMap(({ scripts }) => scripts),
      },
    },
  );
}

/**
 * The commands that would run what no person has allowed, in the user's checkout or in the folder of an attempt. Every
 * script has to be one that was allowed for this very command. Of the person's own commands those of the checkout are.
 */
export async function listUntrusted(
  place: TrustPlace,
  commands: readonly string[],
  folder?: string,
): Promise<UntrustedCommand[]> {
  if (commands.length === 0) return [];
  const { root } = place.paths;
  const allowed = readAllowed(place);
  const { review, workspace } = readPersonalSettings(place.home);
  const own = [...review.ci_steps, ...workspace.setup, ...workspace.teardown];
  const refused: UntrustedCommand[] = [];
  for (const [at, command] of [...new Set(commands)].entries()) {
    // A long command takes milliseconds to read: a server serves others in between.
    if (at > 0) await nextTurn();
    const isOwn = place.owns?.(command) ?? own.includes(command);
    if (isOwn && folder === undefined) continue;
    // Nearly always everything was allowed, with what git ignores: then git need not be asked.
    const all = listCommandScripts(command, { root, folder });
    const ownAll = isOwn ? listCommandScripts(command, { root }) : undefined;
    if (judge(command, all, allowed, ownAll).state === 'trusted') continue;
    const scripts = await findCommandScripts(command, { root, folder });
    const mine = isOwn ? await findCommandScripts(command, { root }) : undefined;
    const { state, changed } = judge(command, scripts, allowed, mine);
    if (state !== 'trusted') refused.push({ command, scripts: changed });
  }
  return refused;
}

/** Allows exactly these commands, with the scripts that they run as they are now in the folder. Idempotent; runs nothing. */
export async function trustCommands(
  place: TrustPlace,
  commands: readonly string[],
  { folder, ...who }: { readonly now: number; readonly by: string; readonly folder?: string | undefined },
): Promise<void> {
  const { root } = place.paths;
  const listed: Listed[] = [];
  for (const [at, command] of commands.entries()) {
    if (at > 0) await nextTurn();
    const digests = await findCommandScripts(command, { root, folder });
    listed.push({ command, fingerprint: toFingerprint(command, digests), digests });
  }
  await trustListed(place, listed, who);
}

type Listed = Pick<RepositoryCommand, 'command' | 'fingerprint' | 'digests'>;

/** The same for what somebody was shown: a script that was changed meanwhile is not allowed by it. */
export function trustListed(
  { home, paths }: TrustPlace,
  listed: readonly Listed[],
  { now, by }: { readonly now: number; readonly by: string },
): Promise<void> {
  const key = toTrustKey(paths);
  return changeHomeFile(home, FILE, (text) => {
    const file = parseTrust(text, home);
    const known = toObject(file.repositories[key]);
    const added = listed
      .filter(({ fingerprint }) => !Object.hasOwn(known, fingerprint))
      .map(({ fingerprint, command, digests }) => {
        const scripts = digests.map(({ path, sha256 }) => [path, sha256]);
        return [fingerprint, { command, scripts, trusted_at: toIso(now), by }] as const;
      });
    if (added.length === 0) return { text: text ?? '', answer: undefined };
    const entry = { ...known, ...Object.fromEntries(added) };
    return { text: toText(file, { ...file.repositories, [key]: entry }), answer: undefined };
  });
}

/** The same for work on the tasks of one project. */
export function openTrust(place: TrustPlace) {
  const { root } = place.paths;
  return {
    require: (commands: readonly string[], folder?: string) => requireTrusted(place, commands, folder),
    list: (commands: readonly string[], folder: string) => listUntrusted(place, commands, folder),
    allow: (commands: readonly string[], folder: string, by: { readonly now: number; readonly by: string }) =>
      trustCommands(place, commands, { ...by, folder }),
    async fingerprint(commands: readonly string[], folder: string): Promise<string> {
      const found = await Promise.all(
        commands.map((command) => findCommandScripts(command, { root, folder })),
      );
      return hash('sha256', JSON.stringify(found));
    },
  };
}

/** Takes back everything that was allowed here, and gives its commands. Idempotent. */
export function revokeTrust({ home, paths }: TrustPlace): Promise<string[]> {
  const key = toTrustKey(paths);
  return changeHomeFile(home, FILE, (text) => {
    const file = parseTrust(text, home);
    const { [key]: gone, ...rest } = file.repositories;
    const answer = listTexts(toObject(gone));
    return answer.length === 0 ? { text: text ?? '', answer } : { text: toText(file, rest), answer };
  });
}

/** Something that looks like a key may be committed: it is none, or is void. Idempotent. */
export function allowSecret(
  place: TrustPlace,
  id: string,
  who: { readonly now: number; readonly by: string },
): Promise<void> {
  const command = `what looks like a key in committed files, ${id}`;
  return trustListed(place, [{ command, fingerprint: toSecretFingerprint(id), digests: [] }], who);
}

export function isAllowedSecret(place: TrustPlace, id: string): boolean {
  return Object.hasOwn(readAllowed(place), toSecretFingerprint(id));
}

function toSecretFingerprint(id: string): string {
  return hash('sha256', JSON.stringify(['secret', id]));
}

interface Judgement {
  readonly state: TrustState;
  readonly changed: readonly string[];
}

/** `mine`: scripts that count as allowed besides, of a command that needs no trust itself. */
function judge(
  command: string,
  scripts: readonly CommandScript[],
  allowed: JsonObject,
  mine?: readonly CommandScript[],
): Judgement {
  const entries = Object.values(allowed)
    .map(toObject)
    .filter((one) => one['command'] === command);
  if (entries.length === 0 && mine === undefined) return { state: 'new', changed: [] };
  const known = new Set([...entries.flatMap(listPairs), ...(mine ?? []).map(toPair)]);
  const changed = scripts.filter((script) => script.sha256 === 'too_large' || !known.has(toPair(script)));
  return { state: changed.length === 0 ? 'trusted' : 'changed', changed: changed.map(({ path }) => path) };
}

function listPairs({ scripts }: JsonObject): string[] {
  return Array.isArray(scripts) ? scripts.map((pair) => JSON.stringify(pair)) : [];
}

function toPair({ path, sha256 }: CommandScript): string {
  return JSON.stringify([path, sha256]);
}

/** The words and what they run. The first entry keeps commands apart from whatever else may be trusted one day. */
function toFingerprint(command: string, scripts: readonly CommandScript[]): string {
  return hash(
    'sha256',
    JSON.stringify(['command', command, scripts.map(({ path, sha256 }) => [path, sha256])]),
  );
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
