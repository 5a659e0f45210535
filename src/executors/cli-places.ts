import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** What the program of an agent keeps for itself in the home of its user. */
export interface CliPlaces {
  /** Sessions and logins: it has to write there. */
  readonly folders: readonly string[];
  /** Files of its own elsewhere, which it can only read. */
  readonly files: readonly string[];
  /** Folders within those that are the run's own: programs of the user outside read and run what lies there. */
  readonly own: readonly string[];
  /** What makes the program run something at its next start, which may be in a terminal of the user's. */
  readonly settings: readonly SettingsPlace[];
  /** Within `folders`: names of what it has to write; everything else stays as it was. All of it where left out. */
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

/** By kind of executor; one that can start any program has the places of all that the user has. */
export function findCliPlaces(kind: string, person: Person): readonly CliPlaces[] {
  const own = PLACES[kind];
  if (own !== undefined) return [own(person)];
  if (kind !== 'shell' && kind !== 'acp') return [];
  // Nothing is made for a program that the user does not have.
  return listAll(person).filter(({ folders }) => folders.some((folder) => existsSync(folder)));
}

/** What all programs keep: one has no business with that of another. */
export function listCliPlaces(person: Person): readonly string[] {
  return listAll(person).flatMap(({ folders, files }) => [...folders, ...files]);
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
      files: [join(home, '.claude.json')],
      own: toPaths(root, ['ide', 'session-env', 'shell-snapshots']),
      settings: [
        { path: join(root, 'settings.json'), empty: OBJECT },
        ...toPlain(root, ['.claude.json', 'CLAUDE.md']),
        ...toFolders(root, ['agents', 'commands', 'plugins', 'skills']),
      ],
      written:
        /^(?:\.credentials\.json|backups|cache|debug|file-history|history\.jsonl|logs|paste-cache|plans|projects|sessions|stats.*|tasks|telemetry|todos|usage-data)$/,
    };
  },
  codex({ home, env }) {
    const root = env['CODEX_HOME'] || join(home, '.codex');
    return {
      folders: [root],
      files: [],
      // Rules allow commands without a question, also to a run that may only look.
      own: toPaths(root, ['rules', 'shell_snapshots']),
      settings: [
        { path: join(root, 'config.toml'), empty: NOTHING },
        ...toPlain(root, [
          'AGENTS.md',
          'AGENTS.override.md',
          'bin',
          'hooks',
          'hooks.json',
          'packages',
          'skills',
        ]),
        ...toFolders(root, ['prompts', 'skills']),
      ],
    };
  },
  gemini: ({ home, env }) => toGemini(join(env['GEMINI_CLI_HOME'] || home, '.gemini'), 'GEMINI.md'),
  qwen: ({ home }) => toGemini(join(home, '.qwen'), 'QWEN.md'),
  opencode(person) {
    const own = (kind: keyof typeof XDG): string => join(toXdg(person, kind), 'opencode');
    return {
      folders: [own('config'), own('data'), own('state')],
      files: [],
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
    return { folders: [root], files: [], own: [], settings };
  },
  goose(person) {
    const own = (kind: keyof typeof XDG): string => join(toXdg(person, kind), 'goose');
    return {
      folders: [own('config'), own('data'), own('state')],
      files: [],
      own: [],
      settings: toPlain(own('config'), ['config.yaml', 'recipes']),
    };
  },
};

function toGemini(root: string, memory: string): CliPlaces {
  return {
    folders: [root],
    files: [],
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
