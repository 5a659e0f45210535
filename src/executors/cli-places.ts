import { join } from 'node:path';

/** What the program of an agent keeps for itself in the home of its user. */
export interface CliPlaces {
  /** Sessions and logins: it has to write there. */
  readonly folders: readonly string[];
  /** Folders within those that are the run's own: programs of the user outside read and run what lies there. */
  readonly own: readonly string[];
  /** What makes the program run something at its next start, which may be in a terminal of the user's. */
  readonly settings: readonly SettingsPlace[];
  /** Within `folders`: names of what it has to write; everything else that is there stays. All of it where left out. */
  readonly written?: RegExp | undefined;
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

export const NO_PLACES: CliPlaces = { folders: [], own: [], settings: [] };

/** By kind of executor; a program that can be any has the places of all. */
export function findCliPlaces(kind: string, person: Person): CliPlaces {
  const own = PLACES[kind];
  if (own !== undefined) return own(person);
  if (kind !== 'shell' && kind !== 'acp') return NO_PLACES;
  const all = listAll(person);
  return {
    folders: all.flatMap(({ folders }) => folders),
    own: all.flatMap((one) => one.own),
    // Nothing is made for a program that may never be used.
    settings: all.flatMap(({ settings }) => settings.map(({ path }) => ({ path, empty: undefined }))),
  };
}

/** The folders of all programs: one has no business in those of another. */
export function listCliFolders(person: Person): readonly string[] {
  return listAll(person).flatMap(({ folders }) => folders);
}

function listAll(person: Person): CliPlaces[] {
  return Object.values(PLACES).map((one) => one(person));
}

const OBJECT = { text: '{}\n' };
const NOTHING = { text: '' };

const PLACES: Readonly<Record<string, (person: Person) => CliPlaces>> = {
  claude({ home, env }) {
    const root = env['CLAUDE_CONFIG_DIR'] || join(home, '.claude');
    return {
      folders: [root],
      own: toPaths(root, ['ide', 'session-env', 'shell-snapshots']),
      settings: [
        { path: join(root, 'settings.json'), empty: OBJECT },
        { path: join(root, 'CLAUDE.md'), empty: undefined },
        ...toFolders(root, ['agents', 'commands', 'plugins', 'skills']),
      ],
      written:
        /^(?:\.credentials\.json|\.claude\.json.*|backups|cache|debug|file-history|history\.jsonl|logs|paste-cache|plans|projects|sessions|stats.*|tasks|telemetry|todos|usage-data)$/,
    };
  },
  codex({ home, env }) {
    const root = env['CODEX_HOME'] || join(home, '.codex');
    return {
      folders: [root],
      // Rules allow commands without a question, also to a run that may only look.
      own: toPaths(root, ['rules', 'shell_snapshots']),
      settings: [
        { path: join(root, 'config.toml'), empty: NOTHING },
        ...toPlain(root, ['AGENTS.md', 'AGENTS.override.md', 'bin', 'hooks', 'hooks.json', 'packages']),
        ...toFolders(root, ['prompts']),
      ],
    };
  },
  gemini: ({ home, env }) => toGemini(join(env['GEMINI_CLI_HOME'] || home, '.gemini'), 'GEMINI.md'),
  qwen: ({ home }) => toGemini(join(home, '.qwen'), 'QWEN.md'),
  opencode(person) {
    const own = (kind: keyof typeof XDG): string => join(toXdg(person, kind), 'opencode');
    return {
      folders: [own('config'), own('data'), own('state')],
      own: [],
      settings: [
        { path: join(own('config'), 'config.json'), empty: OBJECT },
        ...toPlain(own('config'), ['AGENTS.md', 'node_modules', 'opencode.json', 'opencode.jsonc', 'skills']),
        ...toPlain(own('data'), ['bin']),
        ...toFolders(own('config'), ['agent', 'command', 'plugin', 'plugins', 'tool']),
      ],
    };
  },
  copilot({ home }) {
    const root = join(home, '.copilot');
    const settings = toPlain(root, ['agents', 'config.json', 'mcp-config.json', 'pkg', 'skills']);
    return { folders: [root], own: [], settings };
  },
  goose(person) {
    const own = (kind: keyof typeof XDG): string => join(toXdg(person, kind), 'goose');
    return {
      folders: [own('config'), own('data'), own('state')],
      own: [],
      settings: toPlain(own('config'), ['config.yaml', 'recipes']),
    };
  },
};

function toGemini(root: string, memory: string): CliPlaces {
  return {
    folders: [root],
    own: [],
    settings: [
      { path: join(root, 'settings.json'), empty: OBJECT },
      { path: join(root, 'trustedFolders.json'), empty: OBJECT },
      ...toPlain(root, [memory, '.env', 'bin', 'hooks']),
      ...toFolders(root, ['commands', 'extensions', 'policies', 'skills']),
    ],
  };
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
