import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { declare } from './declare.ts';

export const initProject = declare({
  name: 'project.init',
  summary: 'Start a Forge project in this git repository',
  input: z.object({
    prefix: z
      .string()
      .regex(/^[a-z0-9]{2,4}$/, 'a prefix is 2 to 4 lower-case letters or digits')
      .optional()
      .describe('Beginning of every task id (default: fg)'),
    name: z
      .string()
      .max(LIMITS.project_name_length)
      .regex(
        /^[^\u0000-\u001f\u007f]*[^\s\u0000-\u001f\u007f][^\u0000-\u001f\u007f]*$/,
        'a name is one line and not blank',
      )
      .optional()
      .describe('Name of the project (default: the folder)'),
  }),
  output: z.object({
    name: z.string(),
    idPrefix: z.string(),
    version: z.int(),
    created_at: z.string(),
    directory: z.string(),
    database: z.string(),
  }),
  errors: ['already_exists', 'not_a_repository'],
  access: 'admin',
  needs: 'repository',
  cli: { path: ['init'], examples: ['forge init', 'forge init --prefix myp --name "My Project"'] },
});

export const completionScript = declare({
  name: 'shell.completion',
  summary: 'Print the completion script of a shell',
  input: z.object({ shell: z.enum(['bash', 'zsh', 'fish']).describe('bash, zsh or fish') }),
  output: z.object({ shell: z.string(), script: z.string() }),
  errors: [],
  access: 'read',
  needs: 'nothing',
  cli: {
    path: ['completion'],
    args: ['shell'],
    examples: [
      'forge completion bash >> ~/.bashrc',
      'forge completion zsh > "${fpath[1]}/_forge"',
      'forge completion fish > ~/.config/fish/completions/forge.fish',
    ],
  },
});

export const runDemo = declare({
  name: 'project.demo',
  summary: 'Show Forge at work in a throw-away repository',
  about:
    'Makes a git repository in the temporary folder, a small graph with dependencies, and two workers that claim, work and close until nothing is left. Your own files are not touched.',
  input: z.object({ keep: z.boolean().optional().describe('Keep the repository to look around in') }),
  output: z.object({
    directory: z.string(),
    kept: z.boolean(),
    closed: z.array(z.object({ id: z.string(), title: z.string(), worker: z.string() })),
  }),
  errors: ['dependency_missing'],
  access: 'exec',
  needs: 'nothing',
  cli: { path: ['demo'], examples: ['forge demo', 'forge demo --keep'] },
});
