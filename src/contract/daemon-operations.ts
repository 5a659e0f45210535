import * as z from 'zod';
import { declare } from './declare.ts';

/** A Forge process that can run work on a host. */
export const Daemon = z.object({
  /** `<host>-<pid>` */
  id: z.string(),
  /** A server takes work from others; a command (`forge run`, `forge dispatch`) does what it was told. */
  kind: z.enum(['server', 'command']),
  host: z.string(),
  pid: z.int(),
  /** Of Forge; null where the process did not say. */
  version: z.string().nullable(),
  /** Where a server answers. */
  url: z.string().nullable(),
  /** Roots of the projects it serves or works in. */
  projects: z.array(z.string()),
  /** Agents at work under it. */
  runs: z.int(),
  started_at: z.string().nullable(),
  /** Now for one that is there; else when it was last heard of. */
  last_seen_at: z.string().nullable(),
  /** `unknown`: on another machine, or in a container that cannot be seen into. */
  state: z.enum(['alive', 'gone', 'unknown']),
});
export type Daemon = z.output<typeof Daemon>;

export const listDaemons = declare({
  name: 'daemon.list',
  summary: 'List the Forge processes that can run work: servers, and commands with agents at work',
  about:
    'Servers of this home, and whoever works on a task of a project that is registered, is served or is around. One that was killed is `gone` until the runs it left are settled by the next command in the project. A command without an agent at work is not known.',
  input: z.object({}),
  output: z.array(Daemon),
  errors: [],
  access: 'read',
  needs: 'nothing',
  http: { method: 'get', path: '/daemons' },
  cli: { path: ['daemons'], examples: ['forge daemons', 'forge daemons --json'] },
});

/** A daemon and an executor that it can run. */
export const Runtime = z.object({
  /** `<daemon>/<executor>` */
  id: z.string(),
  daemon_id: z.string(),
  host: z.string(),
  executor: z.string(),
  /** Those that are started with it and are not paused. */
  agents: z.array(z.string()),
  /** Whether the program that it needs is on the PATH. */
  available: z.boolean(),
  /** At once, by the caps of the agents and of the machine. */
  places: z.int(),
  busy: z.int(),
  free: z.int(),
});
export type Runtime = z.output<typeof Runtime>;

export const listRuntimes = declare({
  name: 'runtime.list',
  summary: 'List what each running Forge process can run agents with, and how many places are free',
  about:
    'A server has the executors of all agents that Forge can start, with the places that the agents and the machine allow. A command has those it runs just now and no free place: it takes no work from others.',
  input: z.object({}),
  output: z.array(Runtime),
  errors: [],
  access: 'read',
  needs: 'nothing',
  http: { method: 'get', path: '/runtimes' },
  cli: { path: ['runtimes'], examples: ['forge runtimes', 'forge runtimes --json'] },
});
