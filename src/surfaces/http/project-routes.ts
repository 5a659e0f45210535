import { ForgeError } from '#kernel/errors.ts';
import { type Caller, reaches } from '#access/caller.ts';
import type { HttpDeps, ServedProject } from './http-ports.ts';
import { API } from './operation-routes.ts';
import { type OwnRoute, takesNothing, toJsonAnswer } from './own-route.ts';

const text = { type: 'string' } as const;
const PROJECT = {
  type: 'object',
  properties: { name: text, prefix: text, path: text, paused_at: { type: ['string', 'null'] } },
  required: ['name', 'prefix', 'path', 'paused_at'],
} as const;

/** The projects of this server, which need not be those that are registered. */
export function listProjectRoutes({ projects }: Pick<HttpDeps, 'projects'>): OwnRoute[] {
  return [
    {
      method: 'GET',
      path: `${API}/projects`,
      summary: 'List the projects of this server',
      output: { type: 'array', items: PROJECT },
      answer: takesNothing(async ({ caller }) =>
        toJsonAnswer(await Promise.all(listReached(projects(), caller).map(toEntry))),
      ),
    },
    {
      method: 'GET',
      path: `${API}/projects/{project}`,
      summary: 'Show a project of this server, by its prefix or name',
      output: PROJECT,
      answer: takesNothing(async ({ values: [name = ''], caller }) =>
        toJsonAnswer(await toEntry(getProject(listReached(projects(), caller), name))),
      ),
    },
  ];
}

function listReached(projects: readonly ServedProject[], caller: Caller | undefined): ServedProject[] {
  return projects.filter(({ prefix }) => caller !== undefined && reaches(caller, prefix));
}

function getProject(projects: readonly ServedProject[], name: string): ServedProject {
  const found = projects.find(({ prefix }) => prefix === name) ?? projects.find((one) => one.name === name);
  if (found !== undefined) return found;
  throw new ForgeError('not_found', `No project ${JSON.stringify(name)} on this server`, {
    hint: `GET ${API}/projects`,
    details: { project: name },
  });
}

async function toEntry(project: ServedProject): Promise<object> {
  const { name, prefix, path } = project;
  return { name, prefix, path, paused_at: await project.readPause() };
}
