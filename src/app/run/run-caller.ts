import {
  decideCall,
  decideEntry,
  decideRunTask,
  listRights,
  needsMaker,
  type AskedOperation,
  type CallDecision,
} from '#access/decide-call.ts';
import { explainAccess } from '#access/explain-access.ts';
import type { Run } from '#contract/attempt.ts';
import type { Declaration } from '#contract/declare.ts';
import { OPERATIONS } from '#contract/operations.ts';
import type { Actor } from '#domain/actor.ts';
import type { Secrets } from '#engine/agent-secrets.ts';
import { systemClock } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { hasSecretName, redactNamed } from '#domain/named-secrets.ts';
import { LIMITS } from '#kernel/limits.ts';
import { countTasks } from '#kernel/text.ts';
import { isMadeBy } from '#operations/find-maker.ts';
import { MANIFEST } from '#operations/manifest.generated.ts';
import type { OpenProject, OperationContext } from '#operations/operation.ts';
import { WaitBudget } from '#operations/wait-budget.ts';
import type { HomePlace } from '#sync/forge-home.ts';
import type { Machine } from '#sync/machine.ts';
import { checkCallInput } from '../serve/check-call-input.ts';
import { createServerHost } from '../serve/server-host.ts';
import { holdsSecrets } from './find-in-slices.ts';

export interface RunCallerDeps {
  readonly project: OpenProject;
  readonly place: HomePlace;
  readonly machine: Machine;
  /** What the agent knows, and must not write down in a task. */
  readonly secrets: Pick<Secrets, 'redact' | 'redactValue'>;
}

/** The operations as the agent of one run may call them. Rejects with ForgeError alone. */
export type RunCaller = (name: string, input: unknown, more?: CallMore) => Promise<unknown>;

type CallMore = Pick<OperationContext, 'signal' | 'portion'>;

export function createRunCaller(deps: RunCallerDeps, run: Run): RunCaller {
  let created = 0;
  const waits = new WaitBudget();
  return async (name, input, more = {}) => {
    const declaration = getDeclaration(name);
    const asked = { ...declaration, path: declaration.cli.path };
    const asker = { way: 'run', agent: run.agent } as const;
    const refusal = decideEntry(asker, asked);
    if (refusal !== undefined) throw explainAccess(asked, refusal);
    using _wait = declaration.waits === true ? waits.begin(run.id) : undefined;
    const given = checkCallInput(declaration, input);
    // First, because to look for secrets takes its time, also for what is refused.
    const decision = decideCall(asker, asked, given);
    const isOwn = await checkTask(deps.project, run, { asked, decision });
    const checked = await redactInput(deps, given);
    const load = MANIFEST[name];
    if (load === undefined) throw new ForgeError('internal', `No implementation of ${name}`);
    // Who has lost the task since writes nothing on it any more.
    const takesFence = isOwn && 'fence' in declaration.input.shape && run.fence !== null;
    const fenced = takesFence ? { ...checked, fence: run.fence } : checked;
    const operation = await load();
    const context = { ...toContext(deps, run), ...more };
    if (name !== 'task.create') return await operation.run(context, fenced);
    if (created >= LIMITS.run_created_tasks) throw tooMany();
    created += 1;
    return await operation.run(context, fenced).catch((error: unknown) => {
      created -= 1;
      throw error;
    });
  };
}

/**
 * Nearly always nothing is found, and then it stays as it is; only what stands beside a name of secrets is looked at again.
 * Out of a long text nothing is taken, because that cannot be done in slices: it is refused.
 */
async function redactInput(
  { secrets }: Pick<RunCallerDeps, 'secrets'>,
  input: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const text = JSON.stringify(input);
  // Strings stay strings, and an object stays one.
  const toInput = (redacted: unknown) => redacted as Record<string, unknown>;
  if (!(await holdsSecrets(text, secrets.redact)))
    return hasSecretName(text) ? toInput(redactNamed(input, secrets.redact, (one) => one)) : input;
  const most = LIMITS.log_entry_length;
  if (text.length > most)
    throw new ForgeError(
      'invalid_input',
      `This holds something that is or looks like a secret, and more than ${most} characters: too many to take it out`,
      {
        hint: 'Take it out yourself, or write less at a time',
        details: { limit: most, length: text.length },
      },
    );
  return toInput(secrets.redactValue(input));
}

function getDeclaration(name: string): Declaration {
  const declaration = OPERATIONS.find((one) => one.name === name);
  if (declaration === undefined)
    throw new ForgeError('not_found', `No operation ${JSON.stringify(name.slice(0, 100))}`);
  return declaration;
}

/** Throws permission_denied; says whether it is about the run's own task. */
async function checkTask(
  { store }: OpenProject,
  { task_id, agent }: Run,
  { asked, decision }: { readonly asked: AskedOperation; readonly decision: CallDecision },
): Promise<boolean> {
  if (decision.outcome === 'allowed') return false;
  if (decision.outcome !== 'if_own')
    throw decision.outcome === 'if_holder' ? denied(asked.name) : explainAccess(asked, decision);
  const { id } = await store.getTask(decision.id);
  const facts = { id, task_id };
  const is_made = needsMaker(decision, facts) && (await isMadeBy(store, id, toActor(agent)));
  const decided = decideRunTask(decision, { ...facts, is_made });
  if (decided.outcome === 'not_by_run') throw explainAccess(asked, decided);
  return decided.outcome === 'own';
}

function denied(name: string): ForgeError {
  const why = `An agent cannot do ${name} inside of its run`;
  return explainAccess({ name, path: [] }, { outcome: 'not_by_run', why });
}

function tooMany(): ForgeError {
  const most = LIMITS.run_created_tasks;
  return new ForgeError('permission_denied', `A run creates at most ${countTasks(most)}, and this one has`, {
    hint: 'Write the rest down in a comment on your task: a person decides what becomes of it',
    details: { limit: most },
  });
}

function toActor(agent: string): Actor {
  return { kind: 'agent', name: agent, named: true };
}

function toContext({ project, place, machine }: RunCallerDeps, { agent, task_id }: Run): OperationContext {
  const actor = toActor(agent);
  return {
    clock: systemClock,
    cwd: project.paths.root,
    actor: async () => actor,
    project,
    place,
    machine,
    host: createServerHost(() => undefined),
    ...listRights({ way: 'run', agent }),
    gated_by: task_id,
    stays: true,
    workshop: async () => {
      throw denied('this');
    },
    openProject: async () => {
      throw denied('this');
    },
  };
}
