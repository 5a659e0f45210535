import { join } from 'node:path';
import type { PickRule } from '#contract/attempt.ts';
import type { CapSettings } from '#domain/caps.ts';
import type { Price } from '#domain/price-table.ts';
import { ForgeError } from '#kernel/errors.ts';
import { KEPT_LIMITS } from '#kernel/kept-limits.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { parseSettingsObject, readHomeFile } from './home-file.ts';
import type { ProjectPaths } from './project-paths.ts';
import {
  caps,
  commands,
  isAbsolutePath,
  isBoolean,
  isBranch,
  isInside,
  isPathOfMachine,
  isPattern,
  list,
  oneOf,
  optionalNumber,
  prices,
  type Rule,
  rule,
  someNumber,
  wholeNumber,
} from './setting-rules.ts';
import { readConfigFile } from './shared-config.ts';

/**
 * How work on the tasks of a project is done: what `.forge/config.json` says of it, and over it what the person says in
 * `<home>/settings.json` for all projects of this machine. Apart from the rest of the config, because a cold read needs
 * none of it.
 */
export interface WorkSettings {
  readonly review: {
    /** For tasks that have none of their own. */
    readonly ci_steps: readonly string[];
    readonly step_timeout_s: number;
    readonly step_output_bytes: number;
    /** Whether checks begin in a folder without anything that is not tracked, set up anew. */
    readonly fresh: boolean;
  };
  readonly workspace: {
    /** Under which the checkouts lie. A repository has no say in it. */
    readonly root: string | undefined;
    /** Globs of files that git does not carry and the work needs. */
    readonly copy: readonly string[];
    readonly setup: readonly string[];
    readonly teardown: readonly string[];
    /** Files whose contents decide whether the set-up has to run again. */
    readonly cache_key: readonly string[];
    /** How many ports an attempt gets. */
    readonly ports: number;
    /** A file that says in the attempt's folder which task it is for. */
    readonly linkFile: string | undefined;
    readonly submodules: boolean;
    /** Only the part of the tree that the user's own checkout has. */
    readonly sparse: boolean;
    /** How long the folder of a cancelled attempt stays. */
    readonly cleanup_hours: number;
    readonly disk_limit_gb: number;
    /** How many folders of attempts that are over may stay. A repository has no say in it, nor in the next two. */
    readonly finished_limit: number;
    /** How long a rescue ref stays after a person was told of it, and how many may stay. */
    readonly rescue_days: number;
    readonly rescue_limit: number;
  };
  readonly merge: {
    /** The repository's default branch where it is left out. */
    readonly target: string | undefined;
    readonly strategy: MergeStrategy;
    /** Whether what passed its review is merged without somebody asking. */
    readonly auto: boolean;
    /** Whether commits of Forge's are signed: as `commit.gpgSign` says where that works, always or not at all, never. */
    readonly sign: MergeSigning;
    /** Whether the target is pushed to its upstream after a merge. */
    readonly push: MergePush;
  };
  readonly scheduler: {
    /** Whether a server starts what is ready by itself. A repository has no say in it. */
    readonly enabled: boolean;
    /** Tasks at work at once, in a project. */
    readonly max: number;
    /** The same for all projects of this machine together. */
    readonly per_machine: number;
    readonly per_agent: number;
    /** Tasks in a state at once, by its name; a state that is not named has no limit of its own. */
    readonly per_state: ReadonlyMap<string, number>;
    /** Failed runs in a row after which a person has to look. */
    readonly retry_limit: number;
    readonly budget_usd: number | undefined;
    readonly budget_tokens: number | undefined;
    readonly budget_minutes: number | undefined;
  };
  /** What agents and checks can reach. A repository has no say in it. */
  readonly walls: {
    /** For agents whose profile does not say. */
    readonly agents: WallsSwitch;
    readonly checks: WallsSwitch;
    /** Whether what checks cache is thrown away after each review and merge. */
    readonly check_caches: CheckCaches;
    /** Files and folders that can be written to besides. */
    readonly writable: readonly string[];
    /** Files and folders that are empty inside, besides the usual places of keys and logins. */
    readonly hidden: readonly string[];
    /** Of the usual places those that can be read all the same. */
    readonly shown: readonly string[];
  };
  /**
   * The most that may be used: by a run, by a task with all its runs, by all of a project. What reaches a cap is stopped
   * and waits for a person. The caps of 24 hours are the scheduler's.
   */
  readonly caps: CapSettings['caps'];
  /**
   * What models cost where their programs do not say, by name; one that ends in `*` is the beginning of names. Before
   * the table of Forge's own. A repository has no say in it.
   */
  readonly prices: ReadonlyMap<string, Price>;
  readonly runs: {
    readonly total_minutes: number;
    readonly idle_minutes: number;
    /** How long the log of an ended run stays, and what all logs may take. A repository has no say in it. */
    readonly log_days: number;
    readonly log_limit_gb: number;
  };
  readonly attempts: {
    /** Who decides between several attempts at one task. */
    readonly pick: PickRule;
  };
}

/** The contract's list once more: its module brings zod. */
const PICK_RULES = [
  'first_green',
  'smallest_green',
  'reviewer',
  'person',
] as const satisfies readonly PickRule[];

export const MERGE_STRATEGIES = ['merge', 'squash', 'rebase'] as const;
export type MergeStrategy = (typeof MERGE_STRATEGIES)[number];

const MERGE_SIGNINGS = ['auto', 'always', 'never'] as const;
type MergeSigning = (typeof MERGE_SIGNINGS)[number];
const MERGE_PUSHES = ['never', 'after'] as const;
type MergePush = (typeof MERGE_PUSHES)[number];

const WALLS = ['on', 'off'] as const;
type WallsSwitch = (typeof WALLS)[number];

const CHECK_CACHES = ['new', 'kept'] as const;
type CheckCaches = (typeof CHECK_CACHES)[number];

/** The file of the home. */
export const SETTINGS_FILE = 'settings.json';

/** Read when work begins, not by every command. Throws invalid_input with the file and the key. */
export function readWorkSettings(
  { paths }: { readonly paths: Pick<ProjectPaths, 'forge_dir' | 'store_dir'> },
  home: string,
): WorkSettings {
  return toWorkSettings([readPersonal(home), readShared(paths)]);
}

/** What the person set on this machine for all projects, and nothing of any repository. */
export function readPersonalSettings(home: string): WorkSettings {
  return toWorkSettings([readPersonal(home)]);
}

/** What the repository says, and nothing of the person's. */
export function readRepositorySettings(paths: Pick<ProjectPaths, 'forge_dir' | 'store_dir'>): WorkSettings {
  return toWorkSettings([readShared(paths)]);
}

interface SettingsFile {
  readonly path: string;
  readonly value: Values;
  readonly isPersonal: boolean;
}

type Values = Readonly<Record<string, unknown>>;

function readPersonal(home: string): SettingsFile {
  const path = join(home, SETTINGS_FILE);
  const text = readHomeFile(home, SETTINGS_FILE);
  return { path, value: text === undefined ? {} : parseSettingsObject(text, path), isPersonal: true };
}

/** The worktree's config wins; the copy serves branches and worktrees that have none. */
function readShared({ forge_dir, store_dir }: Pick<ProjectPaths, 'forge_dir' | 'store_dir'>): SettingsFile {
  const own = readConfigFile(join(forge_dir, 'config.json'));
  const text = (own ?? readConfigFile(join(store_dir, 'config.json')))?.toString('utf8');
  const path = join(own === undefined ? store_dir : forge_dir, 'config.json');
  return { path, value: text === undefined ? {} : parseSettingsObject(text, path), isPersonal: false };
}

/** Sections whose keys are known. */
type Section = Exclude<keyof WorkSettings, 'prices'>;

type Rules = {
  readonly [S in Section]: {
    readonly [K in keyof WorkSettings[S]]: Rule<WorkSettings[S][K]>;
  };
};

const WEEK_MINUTES = 7 * 24 * 60;
const HALF_AN_HOUR = 1_800;

const PATTERNS = `globs inside the project (* ? [a-z] ** {a,b}), each at most ${LIMITS.copy_pattern_length} characters, ${LIMITS.copy_pattern_folders} times ** and ${LIMITS.copy_pattern_ways} names by its braces`;
const PATHS = 'a list of paths that begin with / or ~/';

const RULES: Rules = {
  review: {
    ci_steps: commands(),
    step_timeout_s: wholeNumber(1, WEEK_MINUTES * 60, HALF_AN_HOUR),
    step_output_bytes: wholeNumber(1_024, LIMITS.run_output_bytes, 67_108_864),
    fresh: rule('true or false', isBoolean, true),
  },
  workspace: {
    root: { ...rule('an absolute path', isAbsolutePath, undefined), personal: true },
    copy: list(`a list of ${PATTERNS}`, isPattern),
    setup: commands(),
    teardown: commands(),
    cache_key: list('a list of files of the project', isInside),
    ports: wholeNumber(0, LIMITS.port_block, 10),
    linkFile: rule('the name of a file inside the attempt', isInside, undefined),
    submodules: rule('true or false', isBoolean, false),
    sparse: rule('true or false', isBoolean, true),
    cleanup_hours: someNumber(0, 24 * 365, 24),
    disk_limit_gb: someNumber(0.001, 1_000_000, 50),
    finished_limit: { ...wholeNumber(0, 100_000, KEPT_LIMITS.finished_worktrees), personal: true },
    rescue_days: { ...wholeNumber(1, 36_500, KEPT_LIMITS.rescue_days), personal: true },
    rescue_limit: { ...wholeNumber(1, 1_000_000, KEPT_LIMITS.rescues), personal: true },
  },
  merge: {
    target: rule('the name of a branch', isBranch, undefined),
    strategy: rule(MERGE_STRATEGIES.join(', '), isStrategy, 'merge'),
    auto: rule('true or false', isBoolean, false),
    sign: oneOf(MERGE_SIGNINGS, 'auto'),
    push: oneOf(MERGE_PUSHES, 'never'),
  },
  scheduler: {
    enabled: { ...rule('true or false', isBoolean, false), personal: true },
    per_machine: { ...wholeNumber(1, LIMITS.runs_at_once, 32), personal: true },
    max: wholeNumber(1, LIMITS.runs_at_once, 4),
    per_agent: wholeNumber(1, LIMITS.runs_at_once, 4),
    per_state: caps(LIMITS.runs_at_once),
    retry_limit: wholeNumber(1, LIMITS.max_rejections, 3),
    budget_usd: optionalNumber(),
    budget_tokens: optionalNumber(),
    budget_minutes: optionalNumber(),
  },
  walls: {
    agents: { ...oneOf(WALLS, 'on'), personal: true },
    checks: { ...oneOf(WALLS, 'on'), personal: true },
    check_caches: { ...oneOf(CHECK_CACHES, 'new'), personal: true },
    writable: { ...list(PATHS, isPathOfMachine), personal: true },
    hidden: { ...list(PATHS, isPathOfMachine), personal: true },
    shown: { ...list(PATHS, isPathOfMachine), personal: true },
  },
  caps: {
    run_usd: optionalNumber(),
    run_tokens: optionalNumber(),
    task_usd: optionalNumber(),
    task_tokens: optionalNumber(),
    task_minutes: optionalNumber(),
    project_usd: optionalNumber(),
    project_tokens: optionalNumber(),
    project_minutes: optionalNumber(),
  },
  runs: {
    total_minutes: someNumber(0.01, WEEK_MINUTES, 120),
    idle_minutes: someNumber(0.01, WEEK_MINUTES, 15),
    log_days: { ...wholeNumber(1, 36_500, KEPT_LIMITS.run_log_days), personal: true },
    log_limit_gb: { ...someNumber(0.001, 1_000_000, KEPT_LIMITS.run_log_gb), personal: true },
  },
  attempts: { pick: rule(PICK_RULES.join(', '), isPickRule, 'person') },
};

/** Every key that is known, `section.name`; those of `prices` are names of models. */
export function listSettingKeys(): string[] {
  return Object.entries(RULES).flatMap(([section, rules]) =>
    Object.keys(rules).map((name) => `${section}.${name}`),
  );
}

/** Throws invalid_input for a value that the person's own settings may not have. */
export function checkPersonal(path: string, value: Values): void {
  toWorkSettings([{ path, value, isPersonal: true }]);
}

/** The person's settings and the project's config, as they are written. */
export function listSettingsFiles(
  paths: Pick<ProjectPaths, 'forge_dir' | 'store_dir'>,
  home: string,
): SettingsFile[] {
  return [readPersonal(home), readShared(paths)];
}

/** The first file that says something wins, key by key. */
function toWorkSettings(files: readonly SettingsFile[]): WorkSettings {
  return {
    review: takeSection('review', files),
    workspace: takeSection('workspace', files),
    merge: takeSection('merge', files),
    scheduler: takeSection('scheduler', files),
    walls: takeSection('walls', files),
    caps: takeSection('caps', files),
    prices: takePrices(files),
    runs: takeSection('runs', files),
    attempts: takeSection('attempts', files),
  };
}

function takeSection<S extends Section>(section: S, files: readonly SettingsFile[]): WorkSettings[S] {
  const holders = files.map((file) => ({ ...file, value: takeHolder(file, section) }));
  const entries = Object.entries<Rule<unknown>>(RULES[section]).map(([name, one]) => [
    name,
    takeValue(holders, `${section}.${name}`, one),
  ]);
  // The keys are those of the section's rules, and each value is what its rule gives.
  return Object.fromEntries(entries) as WorkSettings[S];
}

const PRICES: Rule<ReadonlyMap<string, Price>> = { ...prices(), personal: true };

function takePrices(files: readonly SettingsFile[]): ReadonlyMap<string, Price> {
  const whole = takeValue(files, 'prices', PRICES);
  return whole as ReadonlyMap<string, Price>; // what its rule gives
}

function takeHolder(file: SettingsFile, section: string): Values {
  const value = Object.hasOwn(file.value, section) ? file.value[section] : undefined;
  if (value === undefined) return {};
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Values;
  throw toFault(file, section, { value, allowed: 'an object' });
}

function takeValue(holders: readonly SettingsFile[], key: string, { parse, ...one }: Rule<unknown>): unknown {
  const name = key.slice(key.indexOf('.') + 1);
  for (const holder of holders) {
    const value = Object.hasOwn(holder.value, name) ? holder.value[name] : undefined;
    if (value === undefined || value === null) continue;
    if (one.personal === true && !holder.isPersonal) throw toMisplaced(holder, key);
    const parsed = parse(value);
    if (parsed === undefined) throw toFault(holder, key, { value, allowed: one.allowed });
    return parsed;
  }
  return one.fallback;
}

function toFault(
  { path, isPersonal }: SettingsFile,
  key: string,
  { value, allowed }: { value: unknown; allowed: string },
): ForgeError {
  const json = JSON.stringify(value);
  const shown = escapeLine(json.length <= 60 ? json : `${json.slice(0, 60)}…`);
  return new ForgeError('invalid_input', `${path}: ${key} is ${shown}; allowed is ${allowed}`, {
    hint: isPersonal
      ? 'Correct it by hand'
      : 'Correct it by hand, or take the last good one: git log -p -- .forge/config.json',
    details: { path, key, allowed },
  });
}

function toMisplaced({ path }: SettingsFile, key: string): ForgeError {
  return new ForgeError('invalid_input', `${path}: ${key} is for each machine to say, not for a repository`, {
    hint: `Put it into ${SETTINGS_FILE} in your Forge home`,
    details: { path, key },
  });
}

function isStrategy(value: unknown): value is MergeStrategy {
  return MERGE_STRATEGIES.some((strategy) => strategy === value);
}

function isPickRule(value: unknown): value is PickRule {
  return PICK_RULES.some((one) => one === value);
}
