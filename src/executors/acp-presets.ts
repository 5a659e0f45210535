import type { AcpCounts } from './protocols/acp-usage.ts';

/** What is known of the agents that speak the Agent Client Protocol; any other is given by its command. */
export interface AcpPreset {
  readonly command: readonly string[];
  /** Before the name of the model; without it the model is set by the protocol, where the agent offers that. */
  readonly model_flag?: string;
  /** The mode in which it asks before it acts. */
  readonly mode?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Besides, where somebody trusts the repository, and where nobody does. */
  readonly trusted_env?: Readonly<Record<string, string>>;
  readonly untrusted_env?: Readonly<Record<string, string>>;
  /** A variable with a password for the server that it opens on this machine: every program here could call it. */
  readonly password?: string;
  readonly counts?: AcpCounts;
  /** Where it keeps what its sessions used. */
  readonly books?: 'opencode';
  /** What it asks its client to write it writes itself besides. */
  readonly writes_itself?: true;
  /** A variable with settings as JSON, and what has to be in them besides all else. */
  readonly settings?: { readonly variable: string; readonly fixed: Readonly<Record<string, unknown>> };
  /** A file of rules that are stronger than the user's own, and the flag before its path. */
  readonly policy?: { readonly flag: string; readonly name: string; readonly text: string };
}

/** Of itself opencode asks for nothing. What only looks stays free, but for files that hold secrets. */
const OPENCODE_PERMISSION = {
  '*': 'ask',
  // By name, because the user's own settings may name them too.
  bash: 'ask',
  edit: 'ask',
  webfetch: 'ask',
  websearch: 'ask',
  codesearch: 'ask',
  external_directory: 'ask',
  read: { '*': 'allow', '*.env': 'ask', '*.env.*': 'ask', '*.env.example': 'allow' },
  glob: 'allow',
  grep: 'allow',
  list: 'allow',
  todoread: 'allow',
  todowrite: 'allow',
};

/** Stronger than settings, policies and answers of the user that allow something for good. */
const GEMINI_POLICY = `[[rule]]
toolName = ["run_shell_command", "write_file", "replace", "web_fetch", "save_memory", "mcp_*"]
decision = "ask_user"
priority = 999
`;

export const ACP_PRESETS = {
  gemini: {
    command: ['gemini', '--acp'],
    model_flag: '--model',
    mode: 'default',
    policy: { flag: '--admin-policy', name: 'forge.toml', text: GEMINI_POLICY },
    // What lets it work in a folder lets it believe the folder's settings too.
    trusted_env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  },
  opencode: {
    command: ['opencode', 'acp'],
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_PERMISSION: JSON.stringify(OPENCODE_PERMISSION) },
    // The user may have given this agent permissions of its own, or made another one the usual.
    mode: 'build',
    settings: {
      variable: 'OPENCODE_CONFIG_CONTENT',
      fixed: { permission: OPENCODE_PERMISSION, agent: { build: { permission: OPENCODE_PERMISSION } } },
    },
    // The settings of a repository may name programs and modules to be loaded.
    untrusted_env: { OPENCODE_DISABLE_PROJECT_CONFIG: '1' },
    password: 'OPENCODE_SERVER_PASSWORD',
    counts: 'last_request',
    books: 'opencode',
    writes_itself: true,
  },
  qwen: { command: ['qwen', '--acp'], model_flag: '--model', mode: 'default' },
  copilot: { command: ['copilot', '--acp', '--no-auto-update'], model_flag: '--model' },
  goose: { command: ['goose', 'acp'] },
} as const satisfies Readonly<Record<string, AcpPreset>>;
