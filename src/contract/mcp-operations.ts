import * as z from 'zod';
import { declare } from './declare.ts';

export const MCP_CLIENTS = ['claude', 'codex', 'gemini', 'opencode', 'cursor', 'vscode'] as const;
export const MCP_SCOPES = ['project', 'user'] as const;
export type McpClientName = (typeof MCP_CLIENTS)[number];
export type McpScope = (typeof MCP_SCOPES)[number];

export const serveMcp = declare({
  name: 'mcp.serve',
  summary: 'Serve the project around here to an MCP host, on standard input and output',
  about:
    'Works on the local store, like any command; no server is needed. Whoever started it acts as FORGE_ACTOR or --actor says. It ends when its input does. `forge mcp install` writes it into the configuration of an agent.',
  input: z.object({}),
  output: z.object({ ended: z.literal(true) }),
  errors: ['usage'],
  access: 'task',
  needs: 'nothing',
  local: true,
  cli: { path: ['mcp'], examples: ['forge mcp', 'FORGE_ACTOR=worker-1 forge mcp'] },
});

export const installMcp = declare({
  name: 'mcp.install',
  summary: 'Write the MCP server into the configuration of an agent or editor',
  about:
    'Changes one entry, called forge, and leaves every other byte of the file as it is, comments too. A second run changes nothing. The program is named by its absolute path. Scope project writes below the current repository, user into the home folder; left out it is what the client uses most: user for codex and gemini, project for the others.',
  input: z.object({
    client: z.enum(MCP_CLIENTS).describe('claude, codex, gemini, opencode, cursor or vscode'),
    scope: z.enum(MCP_SCOPES).optional().describe('project or user'),
    uninstall: z.boolean().optional().describe('Take the entry out again'),
    dry_run: z.boolean().optional().describe('Only say what would be written'),
  }),
  output: z.object({
    client: z.enum(MCP_CLIENTS),
    scope: z.enum(MCP_SCOPES),
    path: z.string(),
    /** What was done, or with --dry-run would be. */
    action: z.enum(['created', 'added', 'replaced', 'removed', 'unchanged']),
    dry_run: z.boolean(),
    /** The entry itself, in the file's own format; null when it is taken out. */
    entry: z.string().nullable(),
  }),
  errors: ['invalid_input', 'not_a_repository', 'io_failed'],
  access: 'admin',
  needs: 'nothing',
  local: true,
  cli: {
    path: ['mcp', 'install'],
    examples: [
      'forge mcp install --client claude',
      'forge mcp install --client codex --dry-run',
      'forge mcp install --client cursor --scope user',
      'forge mcp install --client vscode --uninstall',
    ],
  },
});
