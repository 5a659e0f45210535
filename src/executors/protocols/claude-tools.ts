import { fieldsOf, textOf, type Fields } from './fields.ts';
import type { PermissionAsk, PermissionKind } from './session.ts';

const KINDS: Readonly<Record<string, PermissionKind>> = {
  Edit: 'edit',
  MultiEdit: 'edit',
  NotebookEdit: 'edit',
  Write: 'edit',
  Glob: 'read',
  Grep: 'read',
  LS: 'read',
  NotebookRead: 'read',
  Read: 'read',
  Bash: 'execute',
  BashOutput: 'read',
  KillShell: 'execute',
  WebFetch: 'network',
  WebSearch: 'network',
};

const PATHS = ['file_path', 'notebook_path', 'path'];

export function toClaudeAsk(id: string, request: Fields): PermissionAsk {
  const tool = textOf(request['tool_name']) ?? 'unknown';
  const input = fieldsOf(request['input']);
  const kind = Object.hasOwn(KINDS, tool) ? KINDS[tool] : undefined;
  const paths = PATHS.flatMap((name) => textOf(input[name]) ?? []);
  const command = tool === 'Bash' ? textOf(input['command']) : undefined;
  return { id, tool, input, kind: kind ?? 'other', paths, command };
}

/**
 * Tools that do something, and so are asked for whatever the settings of the user or of a repository allow, and whatever
 * their hooks say: a rule that asks is stronger than both. What only looks stays as it is.
 */
export const ASKED_TOOLS = [
  'Bash',
  'PowerShell',
  'Edit',
  'MultiEdit',
  'NotebookEdit',
  'Write',
  'WebFetch',
  'WebSearch',
  'Workflow',
  'mcp__*',
];

/** They would ask somebody who is not there, or leave the checkout. */
export const UNWANTED_TOOLS = ['AskUserQuestion', 'EnterPlanMode', 'EnterWorktree', 'ExitWorktree'];

export const WRITING_TOOLS = ['Edit', 'MultiEdit', 'NotebookEdit', 'Write'];
