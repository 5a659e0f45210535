import { ForgeError } from '#kernel/errors.ts';
import { ACP_PRESETS } from './acp-presets.ts';
import type { ExecutorProfile } from './executor.ts';

/** One kind of agent that Forge can run. */
export interface ExecutorType {
  readonly kind: string;
  readonly summary: string;
  /** The program that has to be there, where one does. */
  readonly cli?: ExecutorCli | undefined;
  /** JSON schema of what a profile may say besides. */
  readonly options: object;
  /** Variables of Forge's own environment that its program needs; `X_*` is all that begin with `X_`. */
  readonly environment: readonly string[];
}

export interface ExecutorCli {
  readonly program: string;
  /** In the npm registry; undefined where it is not there. */
  readonly package?: string | undefined;
  /** Arguments with which it speaks its protocol. */
  readonly arguments: readonly string[];
}

const OPTIONS = {
  command: {
    type: 'array',
    items: { type: 'string' },
    minItems: 1,
    description: 'The program and its first arguments',
  },
  model: { type: 'string', minLength: 1 },
  effort: { type: 'string', minLength: 1 },
  permissions: {
    enum: ['ask', 'edits', 'all'],
    default: 'edits',
    description: 'What it may do without a person being asked',
  },
  allow: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    description: 'Commands that need no question, by their first words',
  },
} as const;

type OptionName = keyof typeof OPTIONS;

function toSchema(names: readonly OptionName[], required: readonly OptionName[] = []): object {
  const properties = Object.fromEntries(names.map((name) => [name, OPTIONS[name]]));
  return { type: 'object', properties, required, additionalProperties: false };
}

export const EXECUTOR_TYPES = [
  {
    kind: 'claude',
    summary: 'Claude Code',
    cli: { program: 'claude', package: '@anthropic-ai/claude-code', arguments: [] },
    options: toSchema(['command', 'model', 'effort', 'permissions', 'allow']),
    environment: ['ANTHROPIC_*', 'CLAUDE_*', 'IS_SANDBOX'],
  },
  {
    kind: 'codex',
    summary: 'Codex',
    cli: { program: 'codex', package: '@openai/codex', arguments: ['app-server'] },
    options: toSchema(['command', 'model', 'effort', 'permissions', 'allow']),
    environment: ['OPENAI_*', 'CODEX_*'],
  },
  {
    kind: 'gemini',
    summary: 'Gemini CLI',
    cli: toCli('gemini', '@google/gemini-cli'),
    options: toSchema(['command', 'model', 'permissions', 'allow']),
    environment: ['GEMINI_*', 'GOOGLE_*'],
  },
  {
    kind: 'opencode',
    summary: 'opencode',
    cli: toCli('opencode', 'opencode-ai'),
    options: toSchema(['command', 'model', 'permissions', 'allow']),
    // It speaks to whatever provider it was set up for.
    environment: ['OPENCODE_*', 'ANTHROPIC_*', 'OPENAI_*', 'GEMINI_*', 'OPENROUTER_*'],
  },
  {
    kind: 'qwen',
    summary: 'Qwen Code',
    cli: toCli('qwen', '@qwen-code/qwen-code'),
    options: toSchema(['command', 'model', 'permissions', 'allow']),
    environment: ['QWEN_*', 'DASHSCOPE_*', 'OPENAI_*', 'ANTHROPIC_*', 'GEMINI_*'],
  },
  {
    kind: 'copilot',
    summary: 'Copilot CLI',
    cli: toCli('copilot', '@github/copilot'),
    options: toSchema(['command', 'model', 'permissions', 'allow']),
    environment: ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN'],
  },
  {
    kind: 'goose',
    summary: 'goose',
    cli: toCli('goose', undefined),
    options: toSchema(['command', 'model', 'permissions', 'allow']),
    environment: ['GOOSE_*', 'ANTHROPIC_*', 'OPENAI_*', 'GOOGLE_*', 'OPENROUTER_*'],
  },
  {
    kind: 'acp',
    summary: 'Any agent that speaks the Agent Client Protocol',
    options: toSchema(['command', 'model', 'permissions', 'allow'], ['command']),
    environment: [],
  },
  {
    kind: 'shell',
    summary: 'Any program, with the prompt on its standard input',
    options: toSchema(['command'], ['command']),
    environment: [],
  },
  {
    kind: 'script',
    summary: 'Plays a recorded trajectory from a file',
    options: toSchema(['command', 'permissions', 'allow'], ['command']),
    environment: [],
  },
  { kind: 'null', summary: 'Does nothing', options: toSchema([]), environment: [] },
] as const satisfies readonly ExecutorType[];

export type ExecutorKind = (typeof EXECUTOR_TYPES)[number]['kind'];

function toCli(kind: keyof typeof ACP_PRESETS, npm: string | undefined): ExecutorCli {
  const [program, ...rest] = ACP_PRESETS[kind].command;
  return { program, package: npm, arguments: rest };
}

/** Whether an agent of this kind knows at its next start what was said before. */
export function keepsSessions(kind: string): boolean {
  return kind === 'acp' || findExecutorType(kind)?.cli !== undefined;
}

export function findExecutorType(kind: string): ExecutorType | undefined {
  return EXECUTOR_TYPES.find((type) => type.kind === kind);
}

/** Throws invalid_input for a profile that its executor could not run by. */
export function checkProfile(profile: ExecutorProfile): void {
  const type = findExecutorType(profile.executor);
  if (type === undefined) {
    throw new ForgeError('invalid_input', `There is no executor ${profile.executor}`, {
      hint: `It is one of ${EXECUTOR_TYPES.map(({ kind }) => kind).join(', ')}`,
      details: { executor: profile.executor },
    });
  }
  const { properties, required } = type.options as ReturnType<typeof readSchema>;
  for (const name of ['command', 'model', 'effort'] as const) {
    const given = profile[name] !== undefined && profile[name].length > 0;
    if (given && !Object.hasOwn(properties, name)) throw unfit(profile, `takes no ${name}`);
    if (!given && required.includes(name)) throw unfit(profile, `needs a ${name}`);
  }
}

function readSchema(options: { properties: object; required: readonly string[] }) {
  return options;
}

function unfit({ executor }: ExecutorProfile, what: string): ForgeError {
  return new ForgeError('invalid_input', `The ${executor} executor ${what}`, {
    hint: 'forge agent add --help',
    details: { executor },
  });
}

/** What an executor's program is given of Forge's own environment, besides what every program gets. */
export function pickEnvironment(
  kind: string,
  parent: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const names = findExecutorType(kind)?.environment ?? [];
  const picked = Object.entries(parent).filter(([name]) => names.some((pattern) => fits(name, pattern)));
  return Object.fromEntries(picked.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

function fits(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
