import { assert } from '#kernel/assert.ts';
import { ACP_PRESETS } from './acp-presets.ts';
import { createAcpExecutor } from './acp.ts';
import { createClaudeExecutor } from './claude.ts';
import { createCodexExecutor } from './codex.ts';
import { checkProfile, EXECUTOR_TYPES, findExecutorType, type ExecutorKind } from './executor-types.ts';
import type { Executor, ExecutorProfile, ExecutorTools } from './executor.ts';
import { createNullExecutor } from './null.ts';
import { createScriptExecutor } from './script.ts';
import { createShellExecutor } from './shell.ts';

/** The executor of a profile. Throws invalid_input where the profile does not fit it. */
export function createExecutor(profile: ExecutorProfile, tools: ExecutorTools): Executor {
  checkProfile(profile);
  const type = EXECUTOR_TYPES.find(({ kind }) => kind === profile.executor);
  assert(type !== undefined, 'a profile that was checked has an executor');
  return MAKERS[type.kind](tools);
}

const MAKERS: Readonly<Record<ExecutorKind, (tools: ExecutorTools) => Executor>> = {
  claude: createClaudeExecutor,
  codex: createCodexExecutor,
  gemini: fromPreset('gemini'),
  opencode: fromPreset('opencode'),
  qwen: fromPreset('qwen'),
  copilot: fromPreset('copilot'),
  goose: fromPreset('goose'),
  acp: (tools) => createAcpExecutor(tools),
  shell: createShellExecutor,
  script: (tools) => createScriptExecutor(tools),
  null: createNullExecutor,
};

function fromPreset(kind: keyof typeof ACP_PRESETS): (tools: ExecutorTools) => Executor {
  const install = findExecutorType(kind)?.cli?.package;
  const preset = { ...ACP_PRESETS[kind], ...(install !== undefined && { install }) };
  return (tools) => createAcpExecutor(tools, preset);
}
