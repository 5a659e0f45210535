import * as z from 'zod';
import { declare } from './declare.ts';

const TrustedCommand = z.object({
  command: z.string(),
  sources: z.array(z.string()),
  scripts: z.array(z.string()),
  state: z.enum(['trusted', 'changed', 'new', 'never']),
});
export type TrustedCommand = z.output<typeof TrustedCommand>;

export const trustProject = declare({
  name: 'project.trust',
  summary: "Look at the commands that the repository's files and tasks bring, and allow them to run",
  about:
    'Nothing that came with a repository runs before a person has allowed it here: the steps of review, set-up and teardown of the config, the steps that tasks bring along, and the settings that it holds for the programs of agents (`.claude`, `.mcp.json`, `.codex` and the like), which those are told to leave alone until then. What is shown is allowed word for word, together with the scripts of the repository that it names; a changed byte asks again. What looks like a key is not committed with tasks or settings before a person has let it through by --allow-secret. Without a terminal it takes --yes. Nothing is run by this command.',
  input: z.object({
    list: z.boolean().optional().describe('Only show them'),
    revoke: z.boolean().optional().describe('Take back everything that was allowed for this repository'),
    yes: z.boolean().optional().describe('Allow all of them without being asked'),
    allow_secret: z
      .string()
      .regex(/^[0-9a-f]{12}$/)
      .optional()
      .describe('Let what looks like a key into committed files; the refusal names its number'),
  }),
  output: z.object({
    repository: z.string(),
    outcome: z.enum(['listed', 'trusted', 'declined', 'revoked', 'unchanged']),
    commands: z.array(TrustedCommand),
    /** What was allowed or taken back just now. */
    changed: z.array(z.string()),
  }),
  errors: ['untrusted', 'permission_denied', 'store_busy'],
  access: 'admin',
  needs: 'project',
  local: true,
  cli: {
    path: ['trust'],
    flags: { allow_secret: { placeholder: 'number' } },
    examples: [
      'forge trust',
      'forge trust --list',
      'forge trust --yes --json',
      'forge trust --revoke',
      'forge trust --allow-secret 3f9a0c1d2e4b',
    ],
  },
});
