/** What is known of the agents that speak the Agent Client Protocol; any other is given by its command. */
export interface AcpPreset {
  readonly command: readonly string[];
  /** Before the name of the model; without it the model is set by the protocol, where the agent offers that. */
  readonly model_flag?: string;
  /** The mode in which it asks before it acts. */
  readonly mode?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export const ACP_PRESETS = {
  gemini: {
    command: ['gemini', '--acp'],
    model_flag: '--model',
    mode: 'default',
    // The folder is Forge's own checkout; without this the program refuses to work in it.
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  },
  opencode: {
    command: ['opencode', 'acp'],
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
  },
  qwen: { command: ['qwen', '--acp'], model_flag: '--model', mode: 'default' },
  copilot: { command: ['copilot', '--acp', '--no-auto-update'], model_flag: '--model' },
  goose: { command: ['goose', 'acp'] },
} as const satisfies Readonly<Record<string, AcpPreset>>;
