import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { declare } from './declare.ts';
import { Lifetime } from './duration.ts';
import { Identity } from './task.ts';

export const Scope = z.enum(['read', 'task', 'exec', 'admin']);

const TokenEntry = z.object({
  id: z.string(),
  name: z.string(),
  scope: Scope,
  agent: z.string().nullable(),
  user: z.string().nullable(),
  projects: z.array(z.string()).nullable(),
  created_at: z.string(),
  expires_at: z.string().nullable(),
});
const NewToken = TokenEntry.extend({ token: z.string() });

const tokenId = z
  .string()
  .min(1)
  .max(40)
  .regex(/^[^\u0000]*$/, 'the text holds a NUL character')
  .describe('As `forge token list` shows it');
const tokenName = Identity.optional().describe('What to call it in the list (default: whose it is)');
const projects = z
  .array(z.string().min(1).max(LIMITS.project_name_length))
  .max(LIMITS.token_projects)
  .optional()
  .describe('Only for this project, by the prefix of its ids; repeats (default: all)');
const expires = Lifetime.optional().describe(
  `Until when it is good: 12h, 30d (default: an agent's ${LIMITS.agent_token_days}d, a person's until it is revoked)`,
);
const once = 'It is shown this once; only a hash of it is kept.';

export const createToken = declare({
  name: 'token.create',
  summary: 'Make an access token for the server',
  about: `read sees everything; task also works with tasks; exec also sets what becomes a command; admin also decides who may do what. An agent's token has the scope read or task and writes only what the agent holds. ${once}`,
  input: z.object({
    scope: Scope.describe('read, task, exec or admin; each holds those before it'),
    agent: Identity.optional().describe('For this agent (default: for you)'),
    name: tokenName,
    projects,
    expires,
  }),
  output: NewToken,
  errors: ['store_busy'],
  access: 'admin',
  needs: 'nothing',
  cli: {
    path: ['token', 'create'],
    flags: { agent: { placeholder: 'identity' }, projects: { flag: 'for-project', placeholder: 'prefix' } },
    examples: [
      'forge token create --scope read --name dashboard --expires 30d',
      'forge token create --scope task --agent worker-1 --json',
    ],
  },
  http: { method: 'post', path: '/tokens', ok: 201 },
});

export const listTokens = declare({
  name: 'token.list',
  summary: 'List the access tokens, without what is secret of them',
  input: z.object({ all: z.boolean().optional().describe('Revoked ones too') }),
  output: z.array(
    TokenEntry.extend({
      last_used_at: z.string().nullable(),
      revoked_at: z.string().nullable(),
      expired: z.boolean(),
    }),
  ),
  errors: [],
  access: 'admin',
  needs: 'nothing',
  cli: { path: ['token', 'list'], examples: ['forge token list', 'forge token list --all --json'] },
  http: { method: 'get', path: '/tokens' },
});

export const rotateToken = declare({
  name: 'token.rotate',
  summary: 'Replace a token by a new one of the same rights; the old one ends at once',
  about: `Streams and sessions of the old token end within a second. The new token has an id of its own. ${once}`,
  input: z.object({ id: tokenId }),
  output: NewToken,
  errors: ['not_found', 'state_invalid', 'store_busy'],
  access: 'admin',
  needs: 'nothing',
  cli: { path: ['token', 'rotate'], args: ['id'], examples: ['forge token rotate 4f1c09a2b7de'] },
  http: { method: 'post', path: '/tokens/{id}/rotate' },
});

export const revokeToken = declare({
  name: 'token.revoke',
  summary: 'End a token for good',
  input: z.object({ id: tokenId }),
  output: TokenEntry.extend({ revoked_at: z.string() }),
  errors: ['not_found', 'state_invalid', 'store_busy'],
  access: 'admin',
  needs: 'nothing',
  cli: { path: ['token', 'revoke'], args: ['id'], examples: ['forge token revoke 4f1c09a2b7de'] },
  http: { method: 'delete', path: '/tokens/{id}' },
});

export const agentToken = declare({
  name: 'agent.token',
  summary: 'Make a token for an agent, so that it can work through the server',
  about: `The same as \`forge token create --scope task --agent <name>\`. ${once}`,
  input: z.object({
    agent: Identity.describe('The identity, as `forge agent list` shows it'),
    projects,
    expires,
  }),
  output: NewToken,
  errors: ['store_busy'],
  access: 'admin',
  needs: 'nothing',
  cli: {
    path: ['agent', 'token'],
    args: ['agent'],
    flags: { projects: { flag: 'for-project', placeholder: 'prefix' } },
    examples: [
      'forge agent token worker-1 --json',
      'forge agent token worker-1 --for-project fg --expires 12h',
    ],
  },
  http: { method: 'post', path: '/agents/{agent}/tokens', ok: 201 },
});
