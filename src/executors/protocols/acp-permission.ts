import { toInput, toToolName } from './acp-updates.ts';
import { fieldsOf, listOf, textOf, type Fields } from './fields.ts';
import type { Decision, PermissionAsk, PermissionKind } from './session.ts';

const KINDS: Readonly<Record<string, PermissionKind>> = {
  read: 'read',
  search: 'read',
  think: 'read',
  edit: 'edit',
  delete: 'edit',
  move: 'edit',
  execute: 'execute',
  fetch: 'network',
};

/** Names under which agents hand paths to their tools. */
const PATHS = [
  'path',
  'file_path',
  'filePath',
  'filepath',
  'absolute_path',
  'notebook_path',
  'fileName',
  'destination',
];

export function toAcpAsk(id: string, call: Fields): PermissionAsk {
  const kind = textOf(call['kind']) ?? 'other';
  return {
    id,
    tool: toToolName(call),
    input: toInput(call),
    kind: (Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined) ?? 'other',
    paths: listPaths(call),
  };
}

/** From everywhere that names one: what it shows and what it does may differ. */
function listPaths(call: Fields): readonly string[] {
  const input = fieldsOf(call['rawInput']);
  const found = [
    ...listOf(call['locations']).map((one) => one['path']),
    ...listOf(call['content']).map((one) => one['path']),
    ...PATHS.map((name) => input[name]),
  ];
  return [...new Set(found.flatMap((one) => textOf(one) ?? []))];
}

/** Once, never for good: the next request is judged again. */
export function pickOption(options: readonly Fields[], decision: Decision): string | undefined {
  const kinds = decision === 'allowed' ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  for (const kind of kinds) {
    const found = options.find((option) => option['kind'] === kind);
    if (found !== undefined) return textOf(found['optionId']);
  }
  return undefined;
}
