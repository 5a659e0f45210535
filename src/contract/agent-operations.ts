import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { declare } from './declare.ts';
import { ExecutorProfile, PermissionPolicy, WallsWish } from './executor-profile.ts';
import { SuspendedAgent } from './suspension.ts';
import { Identity } from './task.ts';

const outcome = z.enum(['added', 'updated', 'unchanged']);
const Word = z
  .string()
  .max(LIMITS.ci_step_length)
  .regex(/^[^\u0000]*$/, 'the text holds a NUL character');
const Option = z
  .string()
  .max(LIMITS.identity_length)
  .regex(/^[^\s\u0000-\u001f\u007f]+$/, 'it is one word');
const description = z
  .string()
  .max(LIMITS.close_reason_length)
  .regex(/^[^\u0000]*$/, 'the text holds a NUL character')
  .optional()
  .describe('What it is for');

/** How a program is started, as agents and profiles take it. */
const setUp = {
  executor: Option.optional().describe(
    'What runs it: claude, codex, gemini, opencode, qwen, copilot, goose, acp, shell, script or null',
  ),
  command: z
    .array(Word)
    .max(LIMITS.agent_words)
    .optional()
    .describe('The program and its arguments, up to the next flag; repeats'),
  model: Option.optional().describe("The model, by the program's own name for it"),
  effort: Option.optional().describe('How much it thinks, where the program knows that'),
  permissions: PermissionPolicy.optional().describe(
    'What it may do without a person being asked: nothing, edits in its checkout, or all (default: edits)',
  ),
  walls: WallsWish.optional().describe(
    'Whether its runs can reach their own checkout only, where bubblewrap is installed (default: on)',
  ),
  allow: z
    .array(Word)
    .max(LIMITS.agent_words)
    .optional()
    .describe(
      'A command that needs no question, by its first words: "npm test"; repeats; those given replace those there, "" alone takes all away',
    ),
  env: z
    .array(
      z
        .string()
        .max(LIMITS.agent_env_length)
        .regex(
          /^(?!FORGE_)[A-Za-z_][A-Za-z0-9_]*=[^\u0000]*$/,
          'a variable is NAME=value, and names that begin with FORGE_ are taken',
        ),
    )
    .max(LIMITS.agent_env)
    .optional()
    .describe('A variable of its environment; repeats; those given replace those there'),
};
const setUpFlags = {
  command: { placeholder: 'argv…', words: true },
  executor: { placeholder: 'kind' },
  allow: { placeholder: 'command' },
  env: { placeholder: 'NAME=value' },
} as const;

/** Variables by their names alone: the values may be keys. */
const envNames = z.array(z.string());

const AgentEntry = z.object({
  name: z.string(),
  description: z.string(),
  created_at: z.string(),
  paused_at: z.string().nullable(),
  profile: ExecutorProfile.nullable(),
  profile_name: z.string().nullable(),
  env: envNames,
  max: z.int().nullable(),
  /** Why and until when Forge does not start it; null where it does. */
  suspended: SuspendedAgent.nullable(),
  version: z.int(),
});
export type AgentEntry = z.output<typeof AgentEntry>;

export const addAgent = declare({
  name: 'agent.add',
  summary: 'Make an agent known on this machine, and say how Forge starts it',
  about:
    'An agent is a name that can claim in every project: `FORGE_ACTOR=worker-1 forge claim --next`. With an executor, or a profile, Forge starts it itself (`forge run`). Doing it again changes what is given and nothing else; another executor begins anew. What the environment holds is kept in a file of yours alone and shown by its names only.',
  input: z.object({
    name: Identity.describe('The identity, as FORGE_ACTOR or --actor says it'),
    description,
    profile: Identity.optional().describe('A named set-up to begin with (`forge profile list`)'),
    ...setUp,
    max: z.int().min(1).max(LIMITS.runs_at_once).optional().describe('Runs of it at once'),
    version: z.int().min(1).optional().describe('Refuse unless the agent still has this version'),
  }),
  output: AgentEntry.extend({ outcome }),
  errors: ['not_found', 'permission_denied', 'store_busy', 'version_conflict'],
  access: 'admin',
  needs: 'nothing',
  http: { method: 'post', path: '/agents' },
  cli: {
    path: ['agent', 'add'],
    args: ['name'],
    flags: setUpFlags,
    examples: [
      'forge agent add worker-1',
      'forge agent add reviewer --description "Looks at every merge"',
      'forge agent add ada --executor claude --model opus --permissions edits --max 3',
      "forge agent add sweeper --executor shell --command bash -c 'npm run fix'",
      'forge agent add cheap --profile local --env API_KEY=abc123',
    ],
  },
});

export const listAgents = declare({
  name: 'agent.list',
  summary: 'List the agent identities of this machine',
  input: z.object({}),
  output: z.array(AgentEntry),
  errors: [],
  access: 'read',
  needs: 'nothing',
  http: { method: 'get', path: '/agents' },
  cli: { path: ['agent', 'list'], examples: ['forge agent list', 'forge agent list --json --fields name'] },
});

export const removeAgent = declare({
  name: 'agent.remove',
  summary: 'Forget an agent identity; what it owns and did stays as it is',
  input: z.object({ name: Identity.describe('As `forge agent list` shows it') }),
  output: AgentEntry,
  errors: ['not_found', 'store_busy'],
  access: 'admin',
  needs: 'nothing',
  http: { method: 'delete', path: '/agents/{name}' },
  cli: { path: ['agent', 'remove'], args: ['name'], examples: ['forge agent remove worker-1'] },
});

const agentName = Identity.describe('The identity');

export const showAgent = declare({
  name: 'agent.show',
  summary: 'Show one agent identity',
  input: z.object({ name: agentName }),
  output: AgentEntry,
  errors: ['not_found'],
  access: 'read',
  needs: 'nothing',
  cli: { path: ['agent', 'show'], args: ['name'], examples: ['forge agent show worker-1'] },
  http: { method: 'get', path: '/agents/{name}' },
});

export const pauseAgent = declare({
  name: 'agent.pause',
  summary: 'Let an agent claim nothing until it is resumed',
  about: 'It keeps what it has. Every project of this machine is meant.',
  input: z.object({ name: agentName }),
  output: AgentEntry,
  errors: ['not_found', 'store_busy'],
  access: 'admin',
  needs: 'nothing',
  cli: { path: ['agent', 'pause'], args: ['name'], examples: ['forge agent pause worker-1'] },
  http: { method: 'post', path: '/agents/{name}/pause' },
});

export const resumeAgent = declare({
  name: 'agent.resume',
  summary: 'Let a paused or suspended agent work again',
  about:
    'An agent is suspended by Forge when it cannot work: it is not logged in, its program is not installed, its provider or the network cannot be reached, or a usage limit is spent. Forge tries it again by itself, later each time; this makes it at once. A reviewer that gave no verdict too often is asked again, too.',
  input: z.object({ name: agentName }),
  output: AgentEntry,
  errors: ['not_found', 'store_busy'],
  access: 'admin',
  needs: 'nothing',
  cli: { path: ['agent', 'resume'], args: ['name'], examples: ['forge agent resume worker-1'] },
  http: { method: 'post', path: '/agents/{name}/resume' },
});

const ProfileEntry = z.object({
  name: z.string(),
  description: z.string(),
  profile: ExecutorProfile,
  env: envNames,
  created_at: z.string(),
});
export type ProfileEntry = z.output<typeof ProfileEntry>;
const profileName = Identity.describe('As `forge profile list` shows it');

export const addProfile = declare({
  name: 'profile.add',
  summary: 'Name a set-up that agents can begin with: executor, model, permissions, environment',
  about: 'Agents that refer to it (`forge agent add <name> --profile <profile>`) follow its changes.',
  input: z.object({ name: Identity.describe('What to call it'), description, ...setUp }),
  output: ProfileEntry.extend({ outcome }),
  errors: ['permission_denied', 'store_busy'],
  access: 'admin',
  needs: 'nothing',
  http: { method: 'post', path: '/profiles' },
  cli: {
    path: ['profile', 'add'],
    args: ['name'],
    flags: setUpFlags,
    examples: [
      'forge profile add careful --executor claude --model opus --effort high --permissions ask',
      'forge profile add local --executor acp --command my-agent --acp --env API_KEY=abc123',
    ],
  },
});

export const listProfiles = declare({
  name: 'profile.list',
  summary: 'List the named set-ups of this machine',
  input: z.object({}),
  output: z.array(ProfileEntry),
  errors: [],
  access: 'read',
  needs: 'nothing',
  http: { method: 'get', path: '/profiles' },
  cli: { path: ['profile', 'list'], examples: ['forge profile list', 'forge profile list --json'] },
});

export const showProfile = declare({
  name: 'profile.show',
  summary: 'Show one named set-up',
  input: z.object({ name: profileName }),
  output: ProfileEntry,
  errors: ['not_found'],
  access: 'read',
  needs: 'nothing',
  http: { method: 'get', path: '/profiles/{name}' },
  cli: { path: ['profile', 'show'], args: ['name'], examples: ['forge profile show careful'] },
});

export const removeProfile = declare({
  name: 'profile.remove',
  summary: 'Forget a named set-up that no agent refers to',
  input: z.object({ name: profileName }),
  output: ProfileEntry,
  errors: ['not_found', 'state_invalid', 'store_busy'],
  access: 'admin',
  needs: 'nothing',
  http: { method: 'delete', path: '/profiles/{name}' },
  cli: { path: ['profile', 'remove'], args: ['name'], examples: ['forge profile remove careful'] },
});

export const listExecutorTypes = declare({
  name: 'executor.list',
  summary: 'List what Forge can run agents with, and what each takes',
  input: z.object({}),
  output: z.array(
    z.object({
      kind: z.string(),
      summary: z.string(),
      program: z.string().nullable(),
      package: z.string().nullable(),
      options: z.record(z.string(), z.unknown()),
    }),
  ),
  errors: [],
  access: 'read',
  needs: 'nothing',
  http: { method: 'get', path: '/executor_types' },
  cli: { path: ['executor', 'list'], examples: ['forge executor list', 'forge executor list --json'] },
});
