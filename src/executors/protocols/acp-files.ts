import { countOf, textOf, type Fields } from './fields.ts';
import type { RpcId } from './json-rpc.ts';
import type { FileWork, PermissionAsk } from './session.ts';

/** What an agent asks its client to do with a file; undefined for any other request. */
export function toFileWork(request: RpcId, method: string, params: Fields): FileWork | undefined {
  const path = textOf(params['path']) ?? '';
  const id = `file-${String(request)}`;
  if (method === 'fs/read_text_file')
    return { id, path, kind: 'read', line: countOf(params['line']), limit: countOf(params['limit']) };
  if (method !== 'fs/write_text_file') return undefined;
  return { id, path, kind: 'write', text: textOf(params['content']) ?? '' };
}

/** The question whether it may: the same as for a tool that reads or edits. */
export function toFileAsk(work: FileWork): PermissionAsk {
  const { id, path, kind } = work;
  const tool = kind === 'read' ? 'fs/read_text_file' : 'fs/write_text_file';
  const input = work.kind === 'write' ? { path, content: work.text } : { path };
  return { id, tool, input, kind: kind === 'read' ? 'read' : 'edit', paths: [path] };
}
