import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { OperationCall } from '#operations/call-operation.ts';
import { writeAnswer, writePage, type WrittenPage } from '#operations/write-answer.ts';
import { checkQuoted } from './tool-result.ts';

const LIST = 'forge://tasks';
const JSON_TYPE = 'application/json';

interface Source {
  readonly projects: readonly string[];
  readonly call: (
    name: string,
    input: object,
    more?: Pick<OperationCall, 'project' | 'portion'>,
  ) => Promise<unknown>;
  /** Resolves when the answer of this operation may be made. */
  readonly reserve: (name: string) => Promise<Disposable | undefined>;
}

const TASKS = {
  name: 'tasks',
  uri: LIST,
  title: 'Open tasks',
  description: 'Tasks that are not closed, by priority',
  mimeType: JSON_TYPE,
};
const TASK = {
  name: 'task',
  uriTemplate: `${LIST}/{id}`,
  title: 'Task',
  description: 'One task with all that belongs to it',
  mimeType: JSON_TYPE,
};

/**
 * The tasks as documents that a person can put into a conversation by hand. Not by the library's own registry: it fails
 * at a long address, and tells that as a fault of the server.
 */
export function registerResources(mcp: McpServer, source: Source): void {
  mcp.server.setRequestHandler('resources/list', async () => ({
    resources: [
      TASKS,
      ...(await listTasks(source)).map((task) => ({ description: TASK.description, ...task })),
    ],
  }));
  mcp.server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [TASK] }));
  mcp.server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    if (uri.length > LIMITS.query_length)
      throw invalid(`An address of a resource has at most ${LIMITS.query_length} characters`);
    if (uri === LIST) return readOpen(uri, source);
    const id = uri.startsWith(`${LIST}/`) ? uri.slice(LIST.length + 1) : '';
    if (id === '' || id.includes('/')) throw new ResourceNotFoundError(uri);
    return readTask(uri, id, source);
  });
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

type Document = ReturnType<typeof toDocument>;

async function readOpen(uri: string, source: Source): Promise<Document> {
  using _reserved = await source.reserve('task.list');
  const pages = await listOpen(source);
  const rows = pages.map(({ body }) => body.slice(1, -1)).filter((text) => text !== '');
  return toDocument(uri, `[${rows.join(',')}]`);
}

async function readTask(uri: string, id: string, source: Source): Promise<Document> {
  try {
    using _reserved = await source.reserve('task.show');
    return toDocument(uri, await writeAnswer(await source.call('task.show', { id })));
  } catch (error) {
    if (!isForgeError(error)) throw error;
    if (error.code === 'not_found') throw new ResourceNotFoundError(uri, error.message);
    if (error.code === 'invalid_input') throw invalid(error.message);
    throw error;
  }
}

/** Of the one project, or of each in its turn; fewer where they are large. */
async function listOpen({ call, projects }: Source): Promise<WrittenPage[]> {
  const each = projects.length > 1 ? projects : [undefined];
  const rows = Math.ceil(LIMITS.mcp_resources / each.length);
  const most = { bytes: LIMITS.answer_page_bytes / each.length, beyond: 'end' } as const;
  const pages: WrittenPage[] = [];
  for (const project of each)
    pages.push(
      await writePage({
        ask: (page, portion) => call('task.list', page, { project, portion }),
        rows,
        most,
      }),
    );
  return pages;
}

/** Hosts ask for the list without being asked to: where it cannot be told, there is nothing to show. */
async function listTasks(
  source: Source,
): Promise<{ uri: string; name: string; title: string; mimeType: string }[]> {
  try {
    using _reserved = await source.reserve('task.list');
    const tasks = (await listOpen(source)).flatMap(({ shown }) => shown);
    return (tasks as { id: string; title: string }[]).map(({ id, title }) => ({
      uri: `${LIST}/${encodeURIComponent(id)}`,
      name: id,
      title,
      mimeType: JSON_TYPE,
    })); // task.list answers with a list of tasks
  } catch (error) {
    if (isForgeError(error)) return [];
    throw error;
  }
}

function toDocument(
  uri: string,
  text: string,
): { contents: { uri: string; mimeType: string; text: string }[] } {
  checkQuoted(text);
  return { contents: [{ uri, mimeType: JSON_TYPE, text }] };
}
