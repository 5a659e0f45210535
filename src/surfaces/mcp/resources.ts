import { type McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server';
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

/** The tasks as documents that a person can put into a conversation by hand. */
export function registerResources(mcp: McpServer, source: Source): void {
  mcp.registerResource(
    'tasks',
    LIST,
    { title: 'Open tasks', description: 'Tasks that are not closed, by priority', mimeType: JSON_TYPE },
    async (uri) => {
      using _reserved = await source.reserve('task.list');
      const pages = await listOpen(source);
      const rows = pages.map(({ body }) => body.slice(1, -1)).filter((text) => text !== '');
      return toDocument(uri, `[${rows.join(',')}]`);
    },
  );
  mcp.registerResource(
    'task',
    new ResourceTemplate(`${LIST}/{id}`, {
      list: async () => ({ resources: await listTasks(source) }),
    }),
    { title: 'Task', description: 'One task with all that belongs to it', mimeType: JSON_TYPE },
    async (uri, { id }) => {
      try {
        using _reserved = await source.reserve('task.show');
        return toDocument(uri, await writeAnswer(await source.call('task.show', { id: String(id) })));
      } catch (error) {
        if (isForgeError(error) && error.code === 'not_found')
          throw new ResourceNotFoundError(uri.href, error.message);
        throw error;
      }
    },
  );
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

function toDocument(uri: URL, text: string): { contents: { uri: string; mimeType: string; text: string }[] } {
  checkQuoted(text);
  return { contents: [{ uri: uri.href, mimeType: JSON_TYPE, text }] };
}
