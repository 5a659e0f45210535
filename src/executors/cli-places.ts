import { join } from 'node:path';

/** What the program of an agent keeps for itself in the home of its user. */
export interface CliPlaces {
  /** Sessions, logins, caches: it has to write there. */
  readonly folders: readonly string[];
  /**
   * Settings within those folders that make the program run something at its next start, which may be in a terminal of
   * the user's. An agent leaves them as they are.
   */
  readonly settings: readonly SettingsPlace[];
}

export interface SettingsPlace {
  readonly path: string;
  /** How it is made where it is missing, so that no agent can make it: a folder, or a file with this text. */
  readonly empty: 'folder' | { readonly text: string } | undefined;
}

type Env = Readonly<Record<string, string | undefined>>;

/** By kind of executor; a program that can be any has the places of all. */
export function findCliPlaces(kind: string, { home, env }: { home: string; env: Env }): CliPlaces {
  const own = PLACES[kind];
  if (own !== undefined) return own({ home, env });
  const all =
    kind === 'shell' || kind === 'acp' ? Object.values(PLACES).map((one) => one({ home, env })) : [];
  return {
    folders: all.flatMap(({ folders }) => folders),
    // Nothing is made for a program that may never be used.
    settings: all.flatMap(({ settings }) => settings.map(({ path }) => ({ path, empty: undefined }))),
  };
}

interface Person {
  readonly home: string;
  readonly env: Env;
}

const OBJECT = { text: '{}\n' };
const NOTHING = { text: '' };

const PLACES: Readonly<Record<string, (person: Person) => CliPlaces>> = {
  claude({ home, env }) {
    const own = env['CLAUDE_CONFIG_DIR'] || join(home, '.claude');
    return {
      folders: [own],
      settings: [
        { path: join(own, 'settings.json'), empty: OBJECT },
        { path: join(own, 'CLAUDE.md'), empty: undefined },
        ...toFolders(own, ['agents', 'commands', 'plugins', 'skills']),
      ],
    };
  },
  codex({ home, env }) {
    const own = env['CODEX_HOME'] || join(home, '.codex');
    return {
      folders: [own],
      settings: [
        { path: join(own, 'config.toml'), empty: NOTHING },
        { path: join(own, 'AGENTS.md'), empty: undefined },
        { path: join(own, 'AGENTS.override.md'), empty: undefined },
        { path: join(own, 'hooks.json'), empty: undefined },
        ...toFolders(own, ['prompts', 'rules']),
      ],
    };
  },
  gemini: ({ home, env }) => toGemini(join(env['GEMINI_CLI_HOME'] || home, '.gemini'), 'GEMINI.md'),
  qwen: ({ home }) => toGemini(join(home, '.qwen'), 'QWEN.md'),
  opencode(person) {
    const own = (kind: keyof typeof XDG): string => join(toXdg(person, kind), 'opencode');
    return {
      folders: [own('config'), own('data'), own('state'), own('cache')],
      settings: [
        { path: join(own('config'), 'opencode.json'), empty: undefined },
        { path: join(own('config'), 'opencode.jsonc'), empty: undefined },
        { path: join(own('config'), 'config.json'), empty: OBJECT },
        { path: join(own('config'), 'AGENTS.md'), empty: undefined },
        ...toFolders(own('config'), ['agent', 'command', 'plugin', 'plugins', 'tool']),
      ],
    };
  },
  copilot: ({ home }) => ({
    folders: [join(home, '.copilot')],
    settings: [
      { path: join(home, '.copilot/config.json'), empty: undefined },
      { path: join(home, '.copilot/mcp-config.json'), empty: undefined },
    ],
  }),
  goose(person) {
    const own = (kind: keyof typeof XDG): string => join(toXdg(person, kind), 'goose');
    return {
      folders: [own('config'), own('data'), own('state')],
      settings: [{ path: join(own('config'), 'config.yaml'), empty: undefined }],
    };
  },
};

function toGemini(own: string, memory: string): CliPlaces {
  return {
    folders: [own],
    settings: [
      { path: join(own, 'settings.json'), empty: OBJECT },
      { path: join(own, memory), empty: undefined },
      { path: join(own, 'trustedFolders.json'), empty: OBJECT },
      { path: join(own, '.env'), empty: undefined },
      ...toFolders(own, ['commands', 'extensions', 'policies', 'skills']),
    ],
  };
}

function toFolders(root: string, names: readonly string[]): SettingsPlace[] {
  return names.map((name) => ({ path: join(root, name), empty: 'folder' }));
}

const XDG = {
  config: ['XDG_CONFIG_HOME', '.config'],
  data: ['XDG_DATA_HOME', '.local/share'],
  state: ['XDG_STATE_HOME', '.local/state'],
  cache: ['XDG_CACHE_HOME', '.cache'],
} as const;

function toXdg({ home, env }: Person, kind: keyof typeof XDG): string {
  const [variable, folder] = XDG[kind];
  return env[variable] || join(home, folder);
}

/** Where package managers keep what they fetched; every check and every agent needs some of them. */
const PACKAGE_CACHES = [
  '.cache',
  '.npm',
  '.yarn',
  '.bun/install/cache',
  '.local/share/pnpm',
  '.cargo/registry',
  '.cargo/git',
  'go/pkg',
  '.m2/repository',
  '.gradle/caches',
  '.gradle/wrapper',
  '.nuget/packages',
  '.ivy2/cache',
];

export function findPackageCaches({ home, env }: Person): readonly string[] {
  return [toXdg({ home, env }, 'cache'), ...PACKAGE_CACHES.map((path) => join(home, path))];
}

/** Keys and logins of the user that no work on a checkout needs, unless its settings say so. */
export const HIDDEN_OF_HOME = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.config/gcloud',
  '.netrc',
  '.git-credentials',
  '.pgpass',
  '.Xauthority',
];
