import * as z from 'zod';
import { declare } from './declare.ts';
import { ResolvedDependency, TaskRef } from './task.ts';

export const listDependencies = declare({
  name: 'dep.list',
  summary: 'List what a task depends on',
  input: z.object({ id: TaskRef.describe('Task id') }),
  output: z.array(ResolvedDependency),
  errors: ['not_found', 'ambiguous_id'],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/tasks/{id}/dependencies' },
  cli: {
    path: ['dep', 'list'],
    args: ['id'],
    examples: ['forge dep list fg-c9d1', 'forge dep list fg-c9d1 --json'],
  },
});

export const listRepos = declare({
  name: 'repo.list',
  summary: "List the git repositories that a project's work may happen in",
  about: 'The one that holds .forge is the primary; so far there is no other.',
  input: z.object({}),
  output: z.array(z.object({ name: z.string(), path: z.string(), primary: z.boolean() })),
  errors: [],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/repos' },
  cli: { path: ['repo', 'list'], examples: ['forge repo list', 'forge repo list --json'] },
});

export const listSkills = declare({
  name: 'skill.list',
  summary: 'List the skills of the project and of the home',
  about:
    'A skill is a folder with a SKILL.md, in .forge/skills of the project or in skills of the Forge home. Name and description come from its front matter. Of two of one name the project wins.',
  input: z.object({}),
  output: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      from: z.enum(['project', 'home']),
      path: z.string(),
    }),
  ),
  errors: [],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/skills' },
  cli: { path: ['skill', 'list'], examples: ['forge skill list', 'forge skill list --json'] },
});
