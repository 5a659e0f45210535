import { unwrapShell } from '#domain/match-command.ts';
import { fieldsOf, listOf, textOf, wordsOf, type Fields } from './fields.ts';
import type { SessionRecord } from './session-record.ts';
import type { PermissionAsk, SessionStep } from './session.ts';

const MAX_OPEN = 1_000;

/** What a Codex thread is made of: messages, thoughts, commands, changes of files, calls of tools. */
export class CodexItems {
  /** Changes of files that have begun: a request names only the item. */
  readonly #changes = new Map<string, readonly string[]>();

  start(item: Fields): readonly SessionStep[] {
    const id = textOf(item['id']) ?? '';
    const call = toCall(item);
    if (call === undefined) return [];
    if (item['type'] === 'fileChange' && this.#changes.size < MAX_OPEN)
      this.#changes.set(
        id,
        listOf(item['changes']).flatMap((change) => textOf(change['path']) ?? []),
      );
    return [{ do: 'tell', entry: { kind: 'tool_call', id, ...call } }];
  }

  complete(item: Fields, record: SessionRecord): readonly SessionStep[] {
    const id = textOf(item['id']) ?? '';
    switch (item['type']) {
      case 'agentMessage': {
        const text = textOf(item['text']) ?? '';
        record.noteMessage(text);
        return [{ do: 'tell', entry: { kind: 'message', role: 'agent', text } }];
      }
      case 'plan':
      case 'reasoning': {
        const text = toThought(item);
        return text === '' ? [] : [{ do: 'tell', entry: { kind: 'thought', text } }];
      }
      default:
        return toCall(item) === undefined ? [] : [this.#finish(id, item, record)];
    }
  }

  toAsk(id: string, what: 'command' | 'files', params: Fields): PermissionAsk {
    if (what === 'command') {
      const { command, cwd, reason } = params;
      const line = textOf(command);
      return {
        id,
        tool: 'command',
        input: { command, cwd, reason },
        kind: 'execute',
        paths: [],
        command: line === undefined ? undefined : unwrapShell(line),
        cwd: textOf(cwd),
      };
    }
    const item = textOf(params['itemId']) ?? '';
    const paths = this.#changes.get(item) ?? [];
    const { reason, grantRoot: root } = params;
    // More than this one change: the right to write somewhere else for good.
    const wants_more = typeof root === 'string';
    const input = { paths, reason, ...(wants_more && { grant_root: root }) };
    return { id, tool: 'file_change', input, kind: wants_more ? 'other' : 'edit', paths };
  }

  #finish(id: string, item: Fields, record: SessionRecord): SessionStep {
    this.#changes.delete(id);
    const is_error = item['status'] !== 'completed' || isFailedCommand(item);
    record.noteToolResult(id, item['status'] !== 'completed');
    return { do: 'tell', entry: { kind: 'tool_result', id, is_error, text: toResult(item) } };
  }
}

function isFailedCommand(item: Fields): boolean {
  return typeof item['exitCode'] === 'number' && item['exitCode'] !== 0;
}

function toCall(item: Fields): { readonly tool: string; readonly input: unknown } | undefined {
  switch (item['type']) {
    case 'commandExecution':
      return { tool: 'command', input: { command: item['command'], cwd: item['cwd'] } };
    case 'fileChange':
      return { tool: 'file_change', input: { changes: item['changes'] } };
    case 'mcpToolCall':
      return {
        tool: `${textOf(item['server']) ?? 'mcp'}.${textOf(item['tool']) ?? ''}`,
        input: item['arguments'],
      };
    case 'dynamicToolCall':
      return { tool: textOf(item['tool']) ?? 'tool', input: item['arguments'] };
    default:
      return undefined;
  }
}

function toResult(item: Fields): string {
  const output = textOf(item['aggregatedOutput']);
  if (output !== undefined) return output;
  const error = textOf(fieldsOf(item['error'])['message']);
  const content = wordsOf(fieldsOf(item['result'])['content'] ?? item['contentItems']);
  return error ?? (content === '' ? (textOf(item['status']) ?? '') : content);
}

function toThought(item: Fields): string {
  const lists = [item['summary'], item['content'], item['text']];
  return lists
    .flat()
    .filter((one) => typeof one === 'string')
    .join('\n');
}
