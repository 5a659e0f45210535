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
  readonly counts?: AcpCounts;
  /** Where it keeps what its sessions used. */
  readonly books?: 'opencode';
  /** What it asks its client to write it writes itself besides. */
  readonly writes_itself?: true;
}

/** Of itself opencode asks for nothing. What only looks stays free, but for files that hold secrets. */
const OPENCODE_PERMISSION = {
  '*': 'ask',
  read: { '*': 'allow', '*.env': 'ask', '*.env.*': 'ask', '*.env.example': 'allow' },
  glob: 'allow',
  grep: 'allow',
  list: 'allow',
  todoread: 'allow',
  todowrite: 'allow',
};

export const ACP_PRESETS = {
  gemini: {
    command: ['gemini', '--acp'],
    model_flag: '--model',
    mode: 'default',
    // What lets it work in a folder lets it believe the folder's settings too.
    trusted_env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  },
  opencode: {
    command: ['opencode', 'acp'],
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_PERMISSION: JSON.stringify(OPENCODE_PERMISSION) },
    // The settings of a repository may name programs and modules to be loaded.
    untrusted_env: { OPENCODE_DISABLE_PROJECT_CONFIG: '1' },
    counts: 'last_request',
    books: 'opencode',
    writes_itself: true,
  },
  qwen: { command: ['qwen', '--acp'], model_flag: '--model', mode: 'default' },
  copilot: { command: ['copilot', '--acp', '--no-auto-update'], model_flag: '--model' },
  goose: { command: ['goose', 'acp'] },
} as const satisfies Readonly<Record<string, AcpPreset>>;
