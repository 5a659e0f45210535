import type { installMcp } from '#contract/mcp-operations.ts';
import { escapeLine, escapeText } from '#kernel/text.ts';
import { implement } from './operation.ts';

const DONE = {
  created: 'Written',
  added: 'Added to',
  replaced: 'Brought up to date',
  removed: 'Taken out of',
  unchanged: 'Nothing to change in',
} as const;
const PLANNED = {
  ...DONE,
  created: 'Would write',
  added: 'Would add to',
  replaced: 'Would change',
  removed: 'Would take out of',
};

export const mcpInstall = implement<typeof installMcp>({
  async run(ctx, input) {
    const { applyMcpClient, planMcpClient } = await import('#sync/mcp-clients.ts');
    const { findRepositoryPaths } = await import('#sync/repository-paths.ts');
    const { homeDir, program, env } = ctx.machine;
    const dryRun = input.dry_run === true;
    const change = planMcpClient({
      client: input.client,
      scope: input.scope,
      want: input.uninstall === true ? 'no entry' : 'entry',
      root: findRepositoryPaths(ctx.cwd)?.root,
      program,
      homeDir,
      env,
      platform: process.platform,
    });
    if (!dryRun) applyMcpClient(change);
    const { scope, path, action, entry } = change;
    return { client: input.client, scope, path, action, dry_run: dryRun, entry };
  },
  text: ({ client, path, action, dry_run, entry }) => {
    const words = dry_run ? PLANNED : DONE;
    const line = `${words[action]} ${escapeLine(path)}`;
    const shown = dry_run && entry !== null ? `\n${escapeText(entry.trimEnd())}` : '';
    const next =
      dry_run || action === 'unchanged' || action === 'removed' ? '' : `\nRestart ${client} to use it.`;
    return line + shown + next;
  },
});
