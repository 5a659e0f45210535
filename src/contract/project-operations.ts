import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { declare } from './declare.ts';

export const initProject = declare({
  name: 'project.init',
  summary: 'Start a Forge project in this git repository',
  about:
    'Makes .forge, the database in the git directory, lines in .gitignore and .gitattributes, a merge driver and hooks for this clone. In a clone of a project it makes the clone ready. --stealth keeps everything out of git; --branch keeps the tasks on a branch that is never checked out. --upgrade changes the mode and commits what that needs, and nothing else.',
  input: z.object({
    prefix: z
      .string()
      .regex(/^[a-z0-9]{2,4}$/, 'a prefix is 2 to 4 lower-case letters or digits')
      .optional()
      .describe('Beginning of every task id (default: fg)'),
    name: z
      .string()
      .max(LIMITS.project_name_length)
      .regex(/^(?!\s*$)[^\u0000-\u001f\u007f]*$/, 'a name is one line and not blank')
      .optional()
      .describe('Name of the project (default: the folder)'),
    stealth: z.boolean().optional().describe('Keep everything on this machine, invisible to git'),
    branch: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Keep the tasks on this branch, away from the code'),
    upgrade: z
      .boolean()
      .optional()
      .describe('Move an existing project to the standard mode, or with --branch to a branch of its own'),
  }),
  output: z.object({
    mode: z.enum(['standard', 'stealth', 'branch']),
    adopted: z.boolean(),
    upgraded: z.boolean().optional(),
    notes: z.array(z.string()),
    name: z.string(),
    idPrefix: z.string(),
    project_id: z.string(),
    version: z.int(),
    created_at: z.string(),
    directory: z.string(),
    database: z.string(),
  }),
  errors: ['already_exists', 'not_a_repository', 'state_invalid'],
  access: 'admin',
  needs: 'repository',
  local: true,
  cli: {
    path: ['init'],
    flags: { branch: { placeholder: 'name' } },
    examples: [
      'forge init',
      'forge init --prefix myp --name "My Project"',
      'forge init --stealth',
      'forge init --branch forge-data',
      'forge init --upgrade',
    ],
  },
});

export const uninstallProject = declare({
  name: 'project.uninstall',
  summary: 'Take Forge out of this repository again',
  about:
    'Removes the hook blocks, the merge driver, the lines in .gitignore, .gitattributes and AGENTS.md, the database and .forge. A copy of every task goes to the Forge home first; `forge import <copy>` brings them back after another `forge init`. Without --yes it only shows what it would do.',
  input: z.object({ yes: z.boolean().optional().describe('Really do it') }),
  output: z.object({
    done: z.boolean(),
    removed: z.array(z.string()),
    backup: z.string().nullable(),
    notes: z.array(z.string()),
  }),
  errors: ['io_failed', 'permission_denied'],
  access: 'admin',
  needs: 'nothing',
  local: true,
  cli: { path: ['uninstall'], examples: ['forge uninstall', 'forge uninstall --yes'] },
});

export const completionScript = declare({
  name: 'shell.completion',
  summary: 'Print the completion script of a shell',
  input: z.object({ shell: z.enum(['bash', 'zsh', 'fish']).describe('bash, zsh or fish') }),
  output: z.object({ shell: z.string(), script: z.string() }),
  errors: [],
  access: 'read',
  needs: 'nothing',
  local: true,
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
    'Makes a git repository in the temporary folder, a small graph with dependencies, and two agents that play what was written down for them: each task in a worktree of its own, checked and merged. One check fails and is repaired, one conflict is caught. On a terminal a server stays up until Ctrl-C. Your own files are not touched.',
  input: z.object({
    keep: z.boolean().optional().describe('Keep the repository to look around in'),
    no_serve: z.boolean().optional().describe('End when the story is over'),
  }),
  output: z.object({
    directory: z.string(),
    kept: z.boolean(),
    closed: z.array(z.object({ id: z.string(), title: z.string(), worker: z.string() })),
    url: z.string().nullable(),
  }),
  errors: ['dependency_missing'],
  access: 'exec',
  needs: 'nothing',
  local: true,
  cli: { path: ['demo'], examples: ['forge demo --no-serve'] },
});
