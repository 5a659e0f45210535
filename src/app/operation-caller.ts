import type { Declaration } from '#contract/declare.ts';
import { OPERATIONS } from '#contract/operations.ts';
import type { Holding } from '#domain/task-holding.ts';
import type { Clock } from '#kernel/clock.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import type { Caller } from '#access/caller.ts';
import {
  decideCall,
  decideEntry,
  decideHolder,
  listRights,
  type AskedOperation,
  type CallDecision,
} from '#access/decide-call.ts';
import { explainAccess } from '#access/explain-access.ts';
import type { OperationCall, OperationCaller } from '#operations/call-operation.ts';
import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import { type AnyOperation, listOperationEntries } from '#operations/flag-table.ts';
import { MANIFEST } from '#operations/manifest.generated.ts';
import type { OpenProject, OperationContext } from '#operations/operation.ts';
import { WaitBudget } from '#operations/wait-budget.ts';
import { readStoreId } from '#store/store-identity.ts';
import type { HomePlace } from '#sync/forge-home.ts';
import type { Machine } from '#sync/machine.ts';
import { openFound } from './open-context.ts';
import { checkCallInput } from './serve/check-call-input.ts';
import { createServerHost } from './serve/server-host.ts';
import type { ServerProject } from './serve/server-project.ts';
import type { ProjectRef, ServerProjects } from './server-projects.ts';
import { toWorkName } from './work-refs.ts';

export interface CallerDeps {
  readonly projects: ServerProjects;
  readonly clock: Clock;
  readonly place: HomePlace;
  readonly machine: Machine;
  readonly env: NodeJS.ProcessEnv;
  /** Where a home operation counts as being asked from. */
  readonly cwd: string;
  readonly notice: (line: string) => void;
}

/** Operations for callers from outside, on projects that are open already. */
export function createOperationCaller(deps: CallerDeps): OperationCaller {
  const waits = new WaitBudget();
  return {
    async call(call) {
      try {
        return await callOperation({ ...deps, waits }, call);
      } catch (error) {
        if (isForgeError(error)) throw error;
        const message = error instanceof Error ? error.message : String(error);
        throw new ForgeError('internal', `Unexpected failure: ${message}`, { cause: error });
      }
    },
  };
}

async function callOperation(
  deps: CallerDeps & { readonly waits: WaitBudget },
  call: OperationCall,
): Promise<unknown> {
  const declaration = getDeclaration(call.name);
  const asked = { ...declaration, path: declaration.cli.path };
  const asker = { way: 'token', caller: call.caller } as const;
  const refusal = decideEntry(asker, asked);
  if (refusal !== undefined) throw explainAccess(asked, refusal);
  const input = checkCallInput(declaration, call.input);
  const decision = decideCall(asker, asked, input);
  if (decision.outcome !== 'allowed' && decision.outcome !== 'if_holder')
    throw explainDecision(asked, decision);
  using _wait = declaration.waits === true ? deps.waits.begin(call.caller.token) : undefined;
  const operation = await loadOperation(declaration.name);
  if (declaration.needs !== 'project') {
    if (decision.outcome !== 'allowed') throw explainDecision(asked, decision);
    return await operation.run(toContext(deps, call, {}), input);
  }
  const project = await deps.projects.find(toProjectRef({ ...call, within: call.caller.projects }, input));
  const run = (): Promise<unknown> =>
    project.useForOperation(async (open) => {
      const holding = await checkHolder(asked, decision, { actor: call.caller.actor, open });
      return operation.run(toContext(deps, call, { project: open, holding, served: project }), input);
    }, call.caller.projects);
  // Awaited, so that a wait is counted until it ends.
  return await run();
}

/** What a call says about its project, checked or not. */
export function toProjectRef(
  call: Pick<OperationCall, 'name' | 'project'> & { readonly within: readonly string[] | undefined },
  input: unknown,
): ProjectRef {
  const field = ROUTES.get(call.name);
  const values = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};
  const route = field === undefined ? undefined : values[field];
  return {
    project: call.project,
    within: call.within,
    route: typeof route === 'string' ? route : undefined,
    work: toWorkName(call.name, values),
  };
}

const DECLARATIONS: ReadonlyMap<string, Declaration> = new Map(OPERATIONS.map((one) => [one.name, one]));
const ROUTES: ReadonlyMap<string, string | undefined> = new Map(
  listOperationEntries(FLAG_TABLE).map(({ name, route }) => [name, route]),
);

function getDeclaration(name: string): Declaration {
  const declaration = DECLARATIONS.get(name);
  if (declaration === undefined)
    throw new ForgeError('not_found', `No operation ${JSON.stringify(name.slice(0, 100))}`);
  return declaration;
}

async function loadOperation(name: string): Promise<AnyOperation> {
  const load = MANIFEST[name];
  if (load === undefined) throw new ForgeError('internal', `No implementation of ${name}`);
  return load();
}

/** A condition is one of a task: where there is none it is not met. */
function explainDecision(
  asked: AskedOperation,
  decision: Exclude<CallDecision, { outcome: 'allowed' }>,
): ForgeError {
  const why = `An agent's token cannot do ${asked.name}`;
  const isRefused = decision.outcome !== 'if_holder' && decision.outcome !== 'if_own';
  return explainAccess(asked, isRefused ? decision : { outcome: 'not_by_agents_token', why });
}

/**
 * Refuses an agent's token at once what it cannot do. The task may be taken away before the operation writes, so what
 * is given back is the condition that each of its writes carries into its transaction.
 */
async function checkHolder(
  asked: AskedOperation,
  decision: Extract<CallDecision, { outcome: 'allowed' | 'if_holder' }>,
  { actor, open }: { readonly actor: Caller['actor']; readonly open: OpenProject },
): Promise<Holding | undefined> {
  if (decision.outcome === 'allowed') return undefined;
  const { id, assignee, roles: named = {} } = await open.store.getTask(decision.id);
  const roles = Object.values(named).flatMap((one) => ('agent' in one ? [one.agent] : []));
  const held = decideHolder(decision, { id, assignee, roles }, actor.name);
  if (held.outcome !== 'held') throw explainAccess(asked, held);
  return held.holding;
}

function toContext(
  { clock, place, machine, env, cwd, notice, projects }: CallerDeps,
  { caller, signal, portion }: OperationCall,
  {
    project,
    holding,
    served,
  }: {
    readonly project?: OpenProject;
    readonly holding?: Holding | undefined;
    readonly served?: ServerProject;
  },
): OperationContext {
  const actor = async (): Promise<Caller['actor']> => caller.actor;
  return {
    clock,
    cwd: project?.paths.root ?? cwd,
    actor,
    get project(): OpenProject {
      if (project === undefined) throw new ForgeError('not_a_project', 'This operation is about no project');
      return project;
    },
    place: { ...place, within: caller.projects },
    machine,
    holding,
    ...listRights({ way: 'token', caller }),
    signal,
    portion,
    host: createServerHost(notice),
    async workshop() {
      if (served === undefined) throw new ForgeError('not_a_project', 'This operation is about no project');
      return served.workshop();
    },
    stays: true,
    async openProject(found) {
      const other = projects.list().find((one) => one.store_id === readStoreId(found.paths.store));
      // Its own connection, because whoever asked closes it.
      const target = other?.found ?? found;
      return openFound(target, { env, notice, meter: () => undefined }, { lock: 'await' });
    },
  };
}
