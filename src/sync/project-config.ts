import type { TaskType } from '#contract/task.ts';
import { BRANCH_FOLDER } from '#domain/attempt-names.ts';
import { parseIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { isIdPrefix, isUuid } from '#kernel/ids.ts';
import { LIMITS } from '#kernel/limits.ts';
import { readJson } from '#kernel/read-json.ts';
import { escapeLine } from '#kernel/text.ts';

/**
 * What Forge itself reads of `.forge/config.json`. Other keys (those of a later release, a team's own) stay in the file
 * and are no fault; of `issueTracker` only the provider is looked at.
 */
export interface ProjectConfig {
  readonly name: string;
  readonly idPrefix: string;
  /** Undefined in projects of an older Forge; see `toProjectId`. */
  readonly projectId: string | undefined;
  readonly version: 1;
  readonly created_at: string;
  readonly settings: {
    readonly defaultPriority: ConfigPriority;
    readonly defaultType: TaskType;
    readonly gcOnExport: boolean;
  };
  readonly ready: { readonly excludeTypes: readonly TaskType[] };
  readonly initMode: InitMode;
  /** The branch that holds the tasks; only in branch mode. */
  readonly branchName: string | undefined;
  /** When it was moved to this mode; undefined where it began with it. The later one counts where two meet. */
  readonly mode_changed_at: string | undefined;
  readonly sync: { readonly exportOn: ExportOn };
}

export const INIT_MODES = ['standard', 'stealth', 'branch'] as const;
export type InitMode = (typeof INIT_MODES)[number];
/** On which branches the pre-commit hook writes the task files. */
export const EXPORT_ON = ['every-branch', 'default-branch', 'manual'] as const;
export type ExportOn = (typeof EXPORT_ON)[number];

/** Where the tasks of a project may also stand. */
const TRACKERS = ['github', 'linear', 'jira', 'none'] as const;

export const CONFIG_VERSION = 1;
export const PREFIX_RULE = '2 to 4 lower-case letters or digits';
export const DATA_BRANCH_RULE = `the name of a branch that does not begin with ${BRANCH_FOLDER}: those belong to attempts`;
export const NAME_RULE = `one line of 1 to ${LIMITS.project_name_length} characters, not blank`;

/**
 * The contract's lists once more: its module brings zod, which a cold read must not load. A test holds the
 * two against each other.
 */
export const CONFIG_TASK_TYPES = [
  'task',
  'bug',
  'feature',
  'epic',
  'message',
] as const satisfies readonly TaskType[];
export const CONFIG_PRIORITIES = [0, 1, 2, 3, 4] as const;
export type ConfigPriority = (typeof CONFIG_PRIORITIES)[number];

/** `path` is for the messages: every fault names the file, the key and what is allowed. */
export function parseProjectConfig(text: string, path: string): ProjectConfig {
  const file = parseFile(text, path);
  checkVersion(file, path); // first: a newer format may mean something else by every other key
  const tracker = takeObject(file, 'issueTracker', path);
  take(tracker, 'issueTracker.provider', path, TRACKERS.join(', '), isTracker, 'github');
  const settings = takeObject(file, 'settings', path);
  const ready = takeObject(file, 'ready', path);
  const sync = takeObject(file, 'sync', path);
  const initMode = take(file, 'initMode', path, INIT_MODES.join(', '), isInitMode, 'standard');
  return {
    name: take(file, 'name', path, NAME_RULE, isProjectName),
    idPrefix: take(file, 'idPrefix', path, PREFIX_RULE, isPrefix),
    projectId: file['projectId'] === undefined ? undefined : take(file, 'projectId', path, 'a UUID', isUuid),
    version: CONFIG_VERSION,
    created_at: take(file, 'created_at', path, 'an ISO 8601 time', isTime),
    settings: {
      defaultPriority: take(
        settings,
        'settings.defaultPriority',
        path,
        'a whole number from 0 to 4',
        isPriority,
        2,
      ),
      defaultType: take(settings, 'settings.defaultType', path, TYPES_RULE, isType, 'task'),
      gcOnExport: take(settings, 'settings.gcOnExport', path, 'true or false', isBoolean, true),
    },
    ready: {
      excludeTypes: take(ready, 'ready.excludeTypes', path, `a list of ${TYPES_RULE}`, isTypeList, []),
    },
    initMode,
    branchName:
      initMode === 'branch' ? take(file, 'branchName', path, DATA_BRANCH_RULE, isDataBranch) : undefined,
    mode_changed_at: takeTime(file, 'mode_changed_at', path),
    sync: { exportOn: take(sync, 'sync.exportOn', path, EXPORT_ON.join(', '), isExportOn, 'every-branch') },
  };
}

export function isProjectName(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > LIMITS.project_name_length) return false;
  return value.trim() !== '' && !CONTROL.test(value) && value.isWellFormed();
}

const CONTROL = /[\u0000-\u001f\u007f]/;
const TYPES_RULE = CONFIG_TASK_TYPES.join(', ');
const HINT = 'Correct it by hand, or take the last good one: git log -p -- .forge/config.json';

type Values = Readonly<Record<string, unknown>>;

/** Not kernel's parseJson: that refuses numbers which would change when written, and this is never written back. */
function parseFile(text: string, path: string): Values {
  let value: unknown;
  try {
    value = readJson(text.startsWith('\uFEFF') ? text.slice(1) : text);
  } catch (cause) {
    const conflict = /^<{7} /m.test(text);
    throw new ForgeError(
      'invalid_input',
      `${path} is not valid JSON: ${escapeLine((cause as Error).message)}`,
      {
        hint: conflict ? 'Resolve the merge conflict in it' : HINT,
        details: { path },
        cause,
      },
    );
  }
  if (isObject(value)) return value;
  throw new ForgeError('invalid_input', `${path} does not hold a JSON object`, {
    hint: HINT,
    details: { path },
  });
}

function checkVersion(file: Values, path: string): void {
  const version = take(file, 'version', path, `the number ${CONFIG_VERSION}`, isVersion);
  if (version === CONFIG_VERSION) return;
  throw new ForgeError(
    'schema_newer',
    `${path} was written by a newer Forge: version is ${version}, this Forge knows ${CONFIG_VERSION}`,
    { hint: 'Update Forge, then run the command again', details: { path, version, known: CONFIG_VERSION } },
  );
}

function takeObject(file: Values, key: string, path: string): Values {
  return take(file, key, path, 'an object', isObject, {});
}

/** `key` is the way from the top of the file; its last part is looked up in `holder`. */
function take<T>(
  holder: Values,
  key: string,
  path: string,
  allowed: string,
  accepts: (value: unknown) => value is T,
  fallback?: T,
): T {
  const value = holder[key.slice(key.lastIndexOf('.') + 1)];
  if (accepts(value)) return value;
  if (value === undefined && fallback !== undefined) return fallback;
  const found = value === undefined ? 'is missing' : `is ${shorten(JSON.stringify(value))}`;
  throw new ForgeError('invalid_input', `${path}: ${key} ${found}; allowed is ${allowed}`, {
    hint: HINT,
    details: { path, key, allowed },
  });
}

function takeTime(file: Values, key: string, path: string): string | undefined {
  return file[key] === undefined ? undefined : take(file, key, path, 'an ISO 8601 time', isTime);
}

function shorten(json: string): string {
  return escapeLine(json.length <= 60 ? json : `${json.slice(0, 60)}…`);
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isVersion(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= CONFIG_VERSION;
}

function isPrefix(value: unknown): value is string {
  return typeof value === 'string' && isIdPrefix(value);
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && parseIso(value) !== undefined;
}

function isPriority(value: unknown): value is ConfigPriority {
  return CONFIG_PRIORITIES.some((priority) => priority === value);
}

function isType(value: unknown): value is TaskType {
  return CONFIG_TASK_TYPES.some((type) => type === value);
}

function isTypeList(value: unknown): value is readonly TaskType[] {
  return Array.isArray(value) && value.every(isType);
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

/** What agents commit is on such branches, so none of them holds the tasks of a project. */
export function isAttemptBranch(name: string): boolean {
  return name.startsWith(BRANCH_FOLDER);
}

function isDataBranch(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !isAttemptBranch(value);
}

function isInitMode(value: unknown): value is InitMode {
  return INIT_MODES.some((mode) => mode === value);
}

function isExportOn(value: unknown): value is ExportOn {
  return EXPORT_ON.some((when) => when === value);
}

function isTracker(value: unknown): value is (typeof TRACKERS)[number] {
  return TRACKERS.some((one) => one === value);
}
