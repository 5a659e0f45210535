import * as z from 'zod';
import { declare } from './declare.ts';

const HookRow = z.object({
  hook: z.enum(['pre-commit', 'post-merge', 'post-checkout', 'post-rewrite']),
  /** What git would run, whether or not it is there. */
  file: z.string(),
  state: z.enum([
    'installed',
    'outdated',
    'absent',
    'foreign',
    'tracked',
    'not_executable',
    'not_shell',
    'outside',
  ]),
  /** What a person can do about it. */
  advice: z.string().optional(),
});

const ChangedHookRow = HookRow.extend({ changed: z.boolean() });

const Shared = z
  .boolean()
  .optional()
  .describe('Also write hooks outside the repository, which others may use (core.hooksPath)');

export const installHooks = declare({
  name: 'hooks.install',
  summary: "Put Forge into this clone's git hooks",
  about:
    'Adds a marked block to the pre-commit, post-merge, post-checkout and post-rewrite hooks that git really runs, also where husky, lefthook or pre-commit wrote them. Everything else in them stays, and git never fails because of Forge. A hook under version control is left alone; the answer has the line to add by hand.',
  input: z.object({ shared: Shared }),
  output: z.object({ hooks: z.array(ChangedHookRow) }),
  errors: ['permission_denied', 'read_only', 'dependency_missing'],
  access: 'exec',
  needs: 'repository',
  local: true,
  cli: {
    path: ['hooks', 'install'],
    examples: ['forge hooks install', 'forge hooks install --shared'],
  },
});

export const hookStatus = declare({
  name: 'hooks.status',
  summary: 'Show which hook files git runs here, and whether Forge is in them',
  input: z.object({}),
  output: z.object({ hooks: z.array(HookRow) }),
  errors: ['not_a_repository', 'dependency_missing'],
  access: 'read',
  needs: 'repository',
  local: true,
  cli: { path: ['hooks', 'status'], examples: ['forge hooks status', 'forge hooks status --json'] },
});

export const uninstallHooks = declare({
  name: 'hooks.uninstall',
  summary: "Take Forge out of this clone's git hooks",
  about:
    'Removes only the marked blocks, and a hook file that has nothing else in it. Without hooks nothing is lost: every command notices a changed task file by itself.',
  input: z.object({ shared: Shared }),
  output: z.object({ hooks: z.array(ChangedHookRow) }),
  errors: ['not_a_repository', 'permission_denied', 'read_only', 'dependency_missing'],
  access: 'exec',
  needs: 'repository',
  local: true,
  cli: { path: ['hooks', 'uninstall'], examples: ['forge hooks uninstall'] },
});
