import { toInput, toToolName } from './acp-updates.ts';
import { fieldsOf, listOf, textOf, wordsOf, type Fields } from './fields.ts';
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
  const input = fieldsOf(call['rawInput']);
  return {
    id,
    tool: toToolName(call),
    input: toInput(call),
    kind: (Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined) ?? 'other',
    paths: listPaths(call),
    command: kind === 'execute' ? findCommand(call) : undefined,
    cwd: textOf(input['workdir']) ?? textOf(input['cwd']) ?? findFolder(call),
  };
}

/** Some agents say nothing of a command but its text, as the title. */
function findCommand(call: Fields): string | undefined {
  const { command } = fieldsOf(call['rawInput']);
  if (Array.isArray(command)) return command.map((word) => quoteWord(String(word))).join(' ');
  return textOf(command) ?? textOf(call['title']);
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Gemini writes it into the text beside the command. */
function findFolder(call: Fields): string | undefined {
  const texts = listOf(call['content']).map((one) => wordsOf(one['content']));
  return texts
    .map((text) => /^\[current working directory (.+?)\]/.exec(text)?.[1])
    .find((one) => one !== undefined);
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
