import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readTextIfThere } from '#git/replace-file.ts';

/** What the program of an agent keeps for itself in the home of its user. */
export interface CliPlaces {
  /** Sessions and logins: it has to write there. */
  readonly folders: readonly StateFolder[];
  /** Files and folders of its own elsewhere, which it can only read. */
  readonly read: readonly string[];
  /** Folders within `folders` that are the run's own: programs of the user outside read and run what lies there. */
  readonly own: readonly string[];
  /** What makes the program run something at its next start, which may be in a terminal of the user's. */
  readonly settings: readonly SettingsPlace[];
  /** Within `folders`: what it keeps of each folder that it is started in. A run can change that of its own folder. */
  readonly projects: readonly ProjectsFolder[];
  /** A file of logins that can name more than logins. */
  readonly logins?: LoginsFile | undefined;
}

export interface StateFolder {
  readonly path: string;
  /** Names of what the program has to write there; everything else stays as it was. */
  readonly written: RegExp;
  /** For folders of other folders than `cwd` whose names cannot be told beforehand: what the program takes from them. */
  readonly foreign?: ((path: string, cwd: string) => string | undefined) | undefined;
}

export interface ProjectsFolder {
  readonly path: string;
  /** The name of what it keeps of the folder `cwd`, which is a real path. */
  readonly toName: (cwd: string) => string;
}

export interface LoginsFile {
  readonly path: string;
  /** Whether this text makes the program take settings from elsewhere. */
  readonly isSetting: (text: string) => boolean;
}

export interface SettingsPlace {
  readonly path: string;
  /** How it is made where it is missing, so that no agent can make it: a folder, or a file with this text. */
  readonly empty: 'folder' | { readonly text: string } | undefined;
}

type Env = Readonly<Record<string, string | undefined>>;

export interface Person {
  readonly home: string;
  readonly env: Env;
}

/** By kind of executor; one that can start any program has the places of all that the user has. */
export function findCliPlaces(kind: string, person: Person): readonly CliPlaces[] {
  const own = PLACES[kind];
  if (own !== undefined) return [own(person)];
  if (kind !== 'shell' && kind !== 'acp') return [];
  // Nothing is made for a program that the user does not have.
  return listAll(person).filter(({ folders, read }) =>
    [...toPathsOf(folders), ...read].some((path) => existsSync(path)),
  );
}

/** What all programs keep: one has no business with that of another. */
export function listCliPlaces(person: Person): readonly string[] {
  return listAll(person).flatMap(({ folders, read }) => [...toPathsOf(folders), ...read]);
}

export function toPathsOf(folders: readonly StateFolder[]): string[] {
  return folders.map(({ path }) => path);
}

function listAll(person: Person): CliPlaces[] {
  return Object.values(PLACES).map((one) => one(person));
}

const OBJECT = { text: '{}\n' };
const NOTHING = { text: '' };

/**
 * What each program was seen to write while it works, by versions of 2026. Names of the next version that are missing
 * here are set aside at the end of a run, and told: the list is too short rather than too long.
 */
const PLACES: Readonly<Record<string, (person: Person) => CliPlaces>> = {
  claude({ home, env }) {
    const root = env['CLAUDE_CONFIG_DIR'] || join(home, '.claude');
    return {
      folders: [
        {
          path: root,
          written: toNames(
            '\\.credentials\\.json|cache|debug|file-history|history\\.jsonl|logs|paste-cache|plans|projects|sessions|stats.*|tasks|telemetry|todos|usage-data',
          ),
        },
      ],
      read: [join(home, '.claude.json')],
      own: toPaths(root, ['backups', 'ide', 'session-env', 'shell-snapshots']),
      settings: [
        { path: join(root, 'settings.json'), empty: OBJECT },
        ...toPlain(root, ['.claude.json', 'CLAUDE.md']),
        ...toFolders(root, ['agents', 'commands', 'plugins', 'skills']),
      ],
      projects: [{ path: join(root, 'projects'), toName: toShortName }],
    };
  },
  codex({ home, env }) {
    const root = env['CODEX_HOME'] || join(home, '.codex');
    return {
      folders: [
        {
          path: root,
          written: toNames(
            '\\.(?:sandbox|personality)_migration|archived_sessions|auth\\.json|generated_images|history\\.jsonl|installation_id|internal_storage\\.json|log|models_cache\\.json|session_index\\.jsonl|sessions|thread-writer-locks|version\\.json|[a-z_]+_\\d+\\.sqlite',
          ),
        },
      ],
      read: [],
      // Rules allow commands without a question, also to a run that may only look; plugins are fetched to .tmp.
      own: toPaths(root, ['.tmp', 'cache', 'rules', 'shell_snapshots', 'tmp']),
      settings: [
        { path: join(root, 'config.toml'), empty: NOTHING },
        ...toPlain(root, ['AGENTS.md', 'AGENTS.override.md', 'bin', 'hooks', 'hooks.json', 'packages']),
        ...toFolders(root, ['prompts', 'skills']),
      ],
      projects: [],
    };
  },
  gemini({ home, env }) {
    const root = join(env['GEMINI_CLI_HOME'] || home, '.gemini');
    return {
      folders: [
        {
          path: root,
          written: toNames(
            '(?:a2a|mcp)-oauth-tokens\\.json|gemini-credentials\\.json|google_accounts\\.json|installation_id|oauth_creds\\.json|projects\\.json|state\\.json|tmp',
          ),
        },
        // A program that it fetched lies in bin.
        { path: join(root, 'tmp'), written: /^(?!bin$)/, foreign: findGeminiMemory },
      ],
      read: [],
      // git works in there, with settings of its own.
      own: [join(root, 'history')],
      settings: [...toGeminiSettings(root, 'GEMINI.md'), ...toFolders(join(root, 'tmp'), ['bin'])],
      projects: [],
    };
  },
  qwen({ home, env }) {
    const root = env['QWEN_HOME'] || join(home, '.qwen');
    return {
      folders: [
        {
          path: root,
          written: toNames(
            '\\.openai-logs-cleanup-[0-9a-f]+|audits|debug|google_accounts\\.json|insights|installation_id|logs|mcp-oauth-tokens\\.json|oauth_creds\\.json|plans|projects|sessions|tip_history\\.json|tmp|todos|usage_record\\.jsonl',
          ),
        },
      ],
      read: [],
      own: toPaths(root, ['extension-store', 'history', 'ide']),
      settings: [
        ...toGeminiSettings(root, 'QWEN.md'),
        { path: join(root, 'output-language.md'), empty: NOTHING },
      ],
      projects: [
        { path: join(root, 'projects'), toName: toDashes },
        { path: join(root, 'tmp'), toName: (cwd) => createHash('sha256').update(cwd).digest('hex') },
      ],
    };
  },
  opencode(person) {
    const own = (kind: keyof typeof XDG): string => join(toXdg(person, kind), 'opencode');
    return {
      folders: [
        {
          path: own('data'),
          written: toNames(
            'auth\\.json|log|mcp-auth\\.json|opencode[\\w-]*\\.db|plans|project|storage|tool-output',
          ),
        },
        {
          path: own('state'),
          written: toNames('frecency\\.jsonl|kv\\.json|locks|model\\.json|prompt-history\\.jsonl'),
        },
      ],
      read: [own('config')],
      // git works in both, with settings of its own.
      own: toPaths(own('data'), ['repos', 'snapshot']),
      // It writes this file where it is missing, and ends where it cannot.
      settings: [
        {
          path: join(own('config'), '.gitignore'),
          empty: { text: 'node_modules\npackage.json\npackage-lock.json\nbun.lock\n.gitignore\n' },
        },
      ],
      projects: [],
      logins: { path: join(own('data'), 'auth.json'), isSetting: hasWellKnown },
    };
  },
  copilot({ home, env }) {
    const root = env['COPILOT_HOME'] || join(home, '.copilot');
    return {
      folders: [
        {
          path: root,
          written: toNames(
            'command-history-state.*|history-session-state|logs|session-state|session-store\\.db|settings\\.json\\.lock',
          ),
        },
      ],
      read: [],
      own: [],
      settings: [
        // Without the time of its first start it would have to write there, and ends.
        {
          path: join(root, 'config.json'),
          empty: { text: '{ "firstLaunchAt": "2025-01-01T00:00:00.000Z" }\n' },
        },
        { path: join(root, 'settings.json'), empty: OBJECT },
        ...toPlain(root, ['agents', 'mcp-config.json', 'pkg', 'skills']),
        ...toFolders(root, ['extensions', 'hooks', 'installed-plugins']),
      ],
      projects: [],
    };
  },
  goose(person) {
    const own = (kind: keyof typeof XDG): string => join(toXdg(person, kind), 'goose');
    return {
      folders: [
        { path: own('data'), written: toNames('projects\\.json|sessions') },
        { path: own('state'), written: toNames('history\\.txt|logs') },
      ],
      read: [own('config')],
      own: [],
      // It makes one where there is none, and does not work where it cannot.
      settings: [{ path: join(own('config'), 'config.yaml'), empty: OBJECT }],
      projects: [],
    };
  },
};

function toGeminiSettings(root: string, memory: string): SettingsPlace[] {
  return [
    { path: join(root, 'settings.json'), empty: OBJECT },
    { path: join(root, 'trustedFolders.json'), empty: OBJECT },
    ...toPlain(root, [memory, '.env', 'bin', 'hooks']),
    ...toFolders(root, ['agents', 'commands', 'extensions', 'policies', 'skills']),
  ];
}

/** With what databases and locks have beside them, and with what a file is called until it is whole. */
function toNames(names: string): RegExp {
  return new RegExp(`^(?:${names})(?:-(?:wal|shm|journal)|\\.lock|[.-](?=[\\w.-]*$)[\\w.-]*tmp[\\w.-]*)?$`);
}

function toDashes(cwd: string): string {
  return cwd.replace(/[^a-zA-Z0-9]/g, '-');
}

/** As Claude Code names folders: long names are cut, and end with a hash of the whole. */
function toShortName(cwd: string): string {
  const name = toDashes(cwd);
  if (name.length <= 200) return name;
  let hash = 0;
  for (let at = 0; at < cwd.length; at += 1) hash = ((hash << 5) - hash + cwd.charCodeAt(at)) | 0;
  return `${name.slice(0, 200)}-${Math.abs(hash).toString(36)}`;
}

/** Each folder there names the one that it is of. */
function findGeminiMemory(path: string, cwd: string): string | undefined {
  const of = readTextIfThere(join(path, '.project_root'))?.trim();
  return of === cwd ? undefined : join(path, 'memory');
}

/** opencode fetches settings from the place of such a login, and sets a variable of its own environment to its token. */
function hasWellKnown(text: string): boolean {
  try {
    const logins = JSON.parse(text) as Readonly<Record<string, { readonly type?: unknown } | null>>;
    return Object.values(logins).some((login) => login?.type === 'wellknown');
  } catch {
    // It takes none from what it cannot read.
    return false;
  }
}

function toPaths(root: string, names: readonly string[]): string[] {
  return names.map((name) => join(root, name));
}

function toFolders(root: string, names: readonly string[]): SettingsPlace[] {
  return names.map((name) => ({ path: join(root, name), empty: 'folder' }));
}

/** Kept where they are there. */
function toPlain(root: string, names: readonly string[]): SettingsPlace[] {
  return names.map((name) => ({ path: join(root, name), empty: undefined }));
}

const XDG = {
  config: ['XDG_CONFIG_HOME', '.config'],
  data: ['XDG_DATA_HOME', '.local/share'],
  state: ['XDG_STATE_HOME', '.local/state'],
} as const;

function toXdg({ home, env }: Person, kind: keyof typeof XDG): string {
  const [variable, folder] = XDG[kind];
  return env[variable] || join(home, folder);
}
