import type { Runtime } from '#contract/daemon-operations.ts';
import { findOnPath } from '#executors/find-clis.ts';
import { EXECUTOR_TYPES, type ExecutorType } from '#executors/executor-types.ts';
import { listAgents, type AgentIdentity } from '#sync/agent-identities.ts';
import type { HomePlace } from '#sync/forge-home.ts';
import { readPersonalSettings } from '#sync/work-settings.ts';
import type { KnownDaemon } from './list-daemons.ts';

interface Caps {
  readonly per_agent: number;
  readonly per_machine: number;
}

/** What the daemons that are there can run agents with. */
export function listRuntimes(
  daemons: readonly KnownDaemon[],
  { home, env }: Pick<HomePlace, 'home' | 'env'>,
): Runtime[] {
  const { per_agent, per_machine } = readPersonalSettings(home).scheduler;
  const agents = listAgents(home);
  const alive = daemons.filter(({ daemon }) => daemon.state === 'alive');
  const busy = alive.reduce((sum, { runs }) => sum + runs.length, 0);
  const left = Math.max(0, per_machine - busy);
  const toRow = (known: KnownDaemon, executor: string): Runtime =>
    toRuntime(known, { executor, agents, caps: { per_agent, per_machine }, left, path: env['PATH'] ?? '' });
  return alive.flatMap((known) => listExecutors(known, agents).map((executor) => toRow(known, executor)));
}

function listExecutors({ daemon, runs }: KnownDaemon, agents: readonly AgentIdentity[]): string[] {
  const running = runs.map(({ executor }) => executor);
  if (daemon.kind === 'command') return [...new Set(running)].toSorted();
  const startable = agents.flatMap(({ profile }) => (profile === null ? [] : [profile.executor]));
  return [...new Set([...startable, ...running])].toSorted();
}

interface Wanted {
  readonly executor: string;
  readonly agents: readonly AgentIdentity[];
  readonly caps: Caps;
  /** Places of the machine that nobody has. */
  readonly left: number;
  readonly path: string;
}

function toRuntime({ daemon, runs }: KnownDaemon, { executor, agents, caps, left, path }: Wanted): Runtime {
  const own = agents.filter(({ profile, paused_at }) => profile?.executor === executor && paused_at === null);
  const busy = runs.filter((run) => run.executor === executor).length;
  const allowed = own.reduce((sum, { max }) => sum + (max ?? caps.per_agent), 0);
  const places = daemon.kind === 'command' ? busy : Math.min(allowed, caps.per_machine);
  const available = isAvailable(executor, own, path);
  return {
    id: `${daemon.id}/${executor}`,
    daemon_id: daemon.id,
    host: daemon.host,
    executor,
    agents: own.map(({ name }) => name),
    available,
    places,
    busy,
    free: available ? Math.min(Math.max(0, places - busy), left) : 0,
  };
}

/** By the program that an agent names, else by the one that the executor is known for. */
function isAvailable(executor: string, agents: readonly AgentIdentity[], path: string): boolean {
  const types: readonly ExecutorType[] = EXECUTOR_TYPES;
  const usual = types.find(({ kind }) => kind === executor)?.cli?.program;
  if (usual === undefined) return true;
  const programs = agents.map(({ profile }) => profile?.command?.[0] ?? usual);
  return (programs.length === 0 ? [usual] : programs).some(
    (program) => findOnPath(program, path) !== undefined,
  );
}
