import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Workshop } from '#engine/workshop.ts';
import type { AgentBook, ManagedAgent } from '#engine/work.ts';
import { createExecutor } from '#executors/create-executor.ts';
import type { ExecutorProfile, ExecutorTools } from '#executors/executor.ts';
import { systemClock } from '#kernel/clock.ts';
import type { OpenProject } from '#operations/operation.ts';
import type { ProcessHost } from '#process/process-host.ts';
import { readOwnIdentity } from '#process/process-identity.ts';
import { countOpencode } from '#store/count-opencode.ts';
import { openAgentFacts } from '#sync/agent-facts.ts';
import { listAgents } from '#sync/agent-identities.ts';
import { GateFiles } from '#sync/gate-files.ts';
import type { HomePlace } from '#sync/forge-home.ts';
import { toGitRepo, type Machine } from '#sync/machine.ts';
import { openTrust, trustsAgentSettings } from '#sync/trust.ts';
import { readWorkSettings, type WorkSettings } from '#sync/work-settings.ts';
import { createRunCounter } from './count-runs.ts';
import type { ProcessKeeper } from './keep-processes.ts';
import { PLAY, VERSION } from './version.ts';

/** Everything that works on the tasks of a project in this process; one for as long as it lives. */
export function openWorkshop(
  project: OpenProject,
  {
    place,
    machine,
    processes,
  }: { readonly place: HomePlace; readonly machine: Machine; readonly processes: ProcessKeeper },
): Workshop {
  const { paths, config, store } = project;
  const gates = new GateFiles(project, machine);
  const settings = (): WorkSettings => readWorkSettings({ paths: gates.placesOf('config.json') }, place.home);
  return new Workshop({
    store,
    clock: systemClock,
    repo: toGitRepo(paths.root, machine),
    project: { name: config.name, prefix: config.idPrefix, root: paths.root },
    workflow: project.workflow,
    settings,
    agents: openAgentBook(place.home),
    openRunSocket: async (run, secrets) => {
      const { openRunSocket } = await import('./run/open-run-socket.ts');
      return openRunSocket({ project, place, machine, secrets }, run);
    },
    executorFor: async (profile) =>
      createExecutor(profile, toTools(machine, await processes.openForAgent(place.home))),
    processes: () => processes.open(),
    watcher: { ...readOwnIdentity(), daemon_id: crypto.randomUUID() },
    root:
      settings().workspace.root ??
      join(place.home, 'worktrees', toFolderName(paths.common_dir, config.idPrefix)),
    home: place.home,
    records: join(paths.store_dir, 'attempts'),
    env: machine.env,
    runsElsewhere: createRunCounter(place, { own: paths.store, clock: systemClock }),
    trust: openTrust({ home: place.home, paths }),
    trustsAgentSettings: (folder) => trustsAgentSettings({ home: place.home, paths }, folder),
  });
}

function toTools({ program }: Machine, processes: ProcessHost): ExecutorTools {
  return {
    clock: systemClock,
    processes,
    player: [program.node, program.script, PLAY],
    version: VERSION,
    countOpencode,
  };
}

/** Projects of one name on a machine must not share a folder. */
function toFolderName(commonDir: string, prefix: string): string {
  return `${prefix}-${createHash('sha256').update(commonDir).digest('hex').slice(0, 8)}`;
}

function openAgentBook(home: string): AgentBook {
  const list = (): ManagedAgent[] =>
    listAgents(home).flatMap(({ name, profile, env, max, created_at, resumed_at }) =>
      profile === null
        ? []
        : [
            {
              name,
              profile: profile satisfies ExecutorProfile,
              env,
              max,
              // One that was removed and added anew is another.
              resumed_at: resumed_at ?? created_at,
            },
          ],
    );
  return {
    find: (name) => list().find((one) => one.name === name),
    list,
    facts: openAgentFacts(home),
  };
}
