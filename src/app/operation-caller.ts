import type { Declaration } from '#contract/declare.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { trustProject } from '#contract/trust-operations.ts';
import { isHeldBy, type Holding } from '#domain/task-holding.ts';
import type { Clock } from '#kernel/clock.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import {
  allows,
  type Caller,
  type OperationCall,
  type OperationCaller,
  scopeError,
} from '#operations/call-operation.ts';
import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import { type AnyOperation, listOperationEntries } from '#operations/flag-table.ts';
import { judgeAgentCall } from '#operations/judge-agent-call.ts';
import { MANIFEST } from '#operations/manifest.generated.ts';
import type { OpenProject, OperationContext } from '#operations/operation.ts';
import { WaitBudget } from '#operations/wait-budget.ts';
import { requiredScope } from '#operations/required-scope.ts';
import { isDamage } from '#store/sqlite/translate-error.ts';
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
  checkScope(declaration, call.caller);
  const input = checkCallInput(declaration, call.input);
  checkScope({ name: declaration.name, access: requiredScope(declaration, input) }, call.caller);
  using _wait = declaration.waits === true ? deps.waits.begin(call.caller.token) : undefined;
  const operation = await loadOperation(declaration.name);
  if (declaration.needs !== 'project') {
    checkReach(declaration, call.caller);
    await checkAgent(declaration, input, call.caller, undefined);
    return await operation.run(toContext(deps, call, {}), input);
  }
  const project = await deps.projects.find(toProjectRef({ ...call, within: call.caller.projects }, input));
  const run = (): Promise<unknown> =>
    project.useForOperation(async (open) => {
      const holding = await checkAgent(declaration, input, call.caller, open);
      return operation.run(toContext(deps, call, { project: open, holding, served: project }), input);
    }, call.caller.projects);
  // Awaited, so that a wait is counted until it ends.
  return await withHealing(project, run);
}

/** Damage shows when the damaged page is read. What failed was rolled back, so it can be done again. */
export async function withHealing<T>(project: ServerProject, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!isDamage(error)) throw error;
    await project.heal();
    return run();
  }
}

/** A token for some projects says nothing about the machine: its agents, tokens and other projects. */
function checkReach({ name }: Declaration, { projects }: Caller): void {
  if (projects === undefined) return;
  throw new ForgeError(
    'permission_denied',
    `${name} is about the whole machine; this token is only for ${projects.join(', ')}`,
    { hint: 'forge token create --scope read', details: { operation: name, projects } },
  );
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
  if (declaration.local === true || declaration.needs === 'repository') {
    throw new ForgeError(
      'not_available',
      `${name} works on the checkout or the terminal of whoever asks: no server can do it`,
      { hint: `forge ${declaration.cli.path.join(' ')}`, details: { operation: name } },
    );
  }
  return declaration;
}

async function loadOperation(name: string): Promise<AnyOperation> {
  const load = MANIFEST[name];
  if (load === undefined) throw new ForgeError('internal', `No implementation of ${name}`);
  return load();
}

function checkScope({ name, access }: Pick<Declaration, 'name' | 'access'>, { scope }: Caller): void {
  if (!allows(scope, access)) throw scopeError(name, { needed: access, held: scope });
}

type Input = Readonly<Record<string, unknown>>;

/**
 * Refuses an agent's token at once what it cannot do. The task may be taken away before the operation writes, so what
 * is given back is the condition that each of its writes carries into its transaction.
 */
async function checkAgent(
  { name, access }: Declaration,
  input: Input,
  { actor }: Caller,
  open: OpenProject | undefined,
): Promise<Holding | undefined> {
  if (actor.kind !== 'agent') return undefined;
  const verdict = judgeAgentCall({ operation: name, access, input, agent: actor.name });
  if (verdict.outcome === 'allowed') return undefined;
  if (verdict.outcome === 'refused') throw denied(verdict.why, { operation: name }, ASK_PERSON);
  if (open === undefined) throw denied(`An agent's token cannot do ${name}`, { operation: name }, ASK_PERSON);
  const task = await open.store.getTask(verdict.id);
  const roles = Object.values(task.roles ?? {}).flatMap((one) => ('agent' in one ? [one.agent] : []));
  if (isHeldBy({ assignee: task.assignee, roles }, actor.name, verdict))
    return { id: task.id, agent: actor.name, or_free: verdict.or_free };
  throw denied(`${task.id} is not ${actor.name}'s: an agent changes only tasks that it holds`, {
    operation: name,
    id: task.id,
    assignee: task.assignee,
  });
}

/** No command of the agent's own helps: a claim of another task least of all. */
const ASK_PERSON = 'A person has to do it: say what you need in a comment on a task of your own';

function denied(
  message: string,
  details: Readonly<Record<string, unknown>>,
  hint = 'forge claim --next',
): ForgeError {
  return new ForgeError('permission_denied', message, { hint, details });
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
    vouches: allows(caller.scope, 'exec'),
    trusts: allows(caller.scope, trustProject.access),
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
