import type { Run } from '#contract/attempt.ts';
import type { Declaration } from '#contract/declare.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { systemClock } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { judgeRunCall } from '#operations/judge-run-call.ts';
import { MANIFEST } from '#operations/manifest.generated.ts';
import type { OpenProject, OperationContext } from '#operations/operation.ts';
import type { HomePlace } from '#sync/forge-home.ts';
import type { Machine } from '#sync/machine.ts';
import { checkCallInput } from '../serve/check-call-input.ts';
import { createServerHost } from '../serve/server-host.ts';

export interface RunCallerDeps {
  readonly project: OpenProject;
  readonly place: HomePlace;
  readonly machine: Machine;
}

/** The operations as the agent of one run may call them. Rejects with ForgeError alone. */
export type RunCaller = (name: string, input: unknown) => Promise<unknown>;

export function createRunCaller(deps: RunCallerDeps, run: Run): RunCaller {
  return async (name, input) => {
    const declaration = getDeclaration(name);
    const checked = checkCallInput(declaration, input);
    const isOwn = await checkRights(deps.project, run, { declaration, input: checked });
    const load = MANIFEST[name];
    if (load === undefined) throw new ForgeError('internal', `No implementation of ${name}`);
    // Who has lost the task since writes nothing on it any more.
    const takesFence = isOwn && 'fence' in declaration.input.shape && run.fence !== null;
    const fenced = takesFence ? { ...checked, fence: run.fence } : checked;
    return (await load()).run(toContext(deps, run), fenced);
  };
}

function getDeclaration(name: string): Declaration {
  const declaration = OPERATIONS.find((one) => one.name === name);
  if (declaration === undefined)
    throw new ForgeError('not_found', `No operation ${JSON.stringify(name.slice(0, 100))}`);
  // What belongs to the person (agents, tokens, other projects), and what works on the checkout or the terminal.
  if (declaration.needs !== 'project' || declaration.local === true) throw denied(name);
  return declaration;
}

/** Throws permission_denied; says whether it is about the run's own task. */
async function checkRights(
  { store }: OpenProject,
  { task_id, agent }: Run,
  { declaration, input }: { readonly declaration: Declaration; readonly input: Record<string, unknown> },
): Promise<boolean> {
  const { name, access } = declaration;
  const verdict = judgeRunCall({ operation: name, access, input, agent });
  if (verdict.outcome === 'allowed') return false;
  if (verdict.outcome === 'refused') throw denied(name, verdict.why);
  const { id, created_by } = await store.getTask(verdict.id);
  if (id === task_id && verdict.own) return true;
  if (created_by === agent && id !== task_id && verdict.made) return false;
  const what = id === task_id ? 'What a task asks for is' : `${id} is not the task of this run: that is`;
  throw denied(name, `${what} for a person to change`);
}

function denied(name: string, why = `An agent cannot do ${name} inside of its run`): ForgeError {
  return new ForgeError('permission_denied', why, {
    hint: 'Say what you need in a comment on your task, or create a task for it',
    details: { operation: name },
  });
}

function toContext({ project, place, machine }: RunCallerDeps, { agent, task_id }: Run): OperationContext {
  const actor = { kind: 'agent', name: agent, named: true } as const;
  return {
    clock: systemClock,
    cwd: project.paths.root,
    actor: async () => actor,
    readActor: async () => actor,
    project,
    place,
    machine,
    host: createServerHost(() => undefined),
    vouches: false,
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
