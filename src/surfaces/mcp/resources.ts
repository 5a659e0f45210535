import { type McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';

const LIST = 'forge://tasks';
const JSON_TYPE = 'application/json';

/** The tasks as documents that a person can put into a conversation by hand. */
export function registerResources(
  mcp: McpServer,
  call: (name: string, input: object) => Promise<unknown>,
): void {
  mcp.registerResource(
    'tasks',
    LIST,
    { title: 'Open tasks', description: 'Tasks that are not closed, by priority', mimeType: JSON_TYPE },
    async (uri) => toDocument(uri, await call('task.list', { limit: LIMITS.mcp_resources })),
  );
  mcp.registerResource(
    'task',
    new ResourceTemplate(`${LIST}/{id}`, { list: async () => ({ resources: await listTasks(call) }) }),
    { title: 'Task', description: 'One task with all that belongs to it', mimeType: JSON_TYPE },
    async (uri, { id }) => {
      try {
        return toDocument(uri, await call('task.show', { id: String(id) }));
      } catch (error) {
        if (isForgeError(error) && error.code === 'not_found')
          throw new ResourceNotFoundError(uri.href, error.message);
        throw error;
      }
    },
  );
}

/** Hosts ask for the list without being asked to: where it cannot be told, there is nothing to show. */
async function listTasks(
  call: (name: string, input: object) => Promise<unknown>,
): Promise<{ uri: string; name: string; title: string; mimeType: string }[]> {
  try {
    const tasks = await call('task.list', { limit: LIMITS.mcp_resources });
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
  uri: URL,
  output: unknown,
): { contents: { uri: string; mimeType: string; text: string }[] } {
  return { contents: [{ uri: uri.href, mimeType: JSON_TYPE, text: JSON.stringify(output) }] };
}
