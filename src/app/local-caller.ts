import { decideCall } from '#access/decide-call.ts';
import { explainAccess } from '#access/explain-access.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import type { OperationCall, OperationCaller } from '#operations/call-operation.ts';

import type { AnyOperation } from '#operations/flag-table.ts';
import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import { MANIFEST } from '#operations/manifest.generated.ts';
import { findActor } from './find-actor.ts';
import { type ContextRequest, openContext } from './open-context.ts';
import { checkCallInput } from './serve/check-call-input.ts';

/**
 * Calls on the project around a folder, each as a command would do it: the files are looked at, the store is opened
 * and closed again. Whoever calls is who the command line says; there is no token and no scope here.
 */
export function createLocalCaller(
  request: Omit<ContextRequest, 'needs' | 'route' | 'operation'>,
): OperationCaller {
  return {
    async call({ name, input, project, signal, portion }) {
      const declaration = OPERATIONS.find((one) => one.name === name);
      const entry = FLAG_TABLE.entries[name]?.();
      const load = MANIFEST[name];
      if (declaration === undefined || entry === undefined || load === undefined)
        throw new ForgeError('not_found', `There is no operation ${name}`);
      if (project !== undefined) throw refuseProject(project);
      const checked = checkCallInput(declaration, input);
      const { actor, env, cwd } = request;
      const asked = { ...declaration, path: declaration.cli.path };
      const asker = { way: 'terminal', actor: findActor({ flag: actor, env, cwd }) } as const;
      const decision = decideCall(asker, asked, checked);
      if (decision.outcome === 'for_people') throw explainAccess(asked, decision);
      const id = entry.route === undefined ? undefined : checked[entry.route];
      const route = typeof id === 'string' ? id : undefined;
      const operation = await load();
      try {
        return await runOnce(
          operation,
          checked,
          { ...request, operation: name, needs: declaration.needs, reads: entry.reads, route },
          { signal, portion },
        );
      } catch (error) {
        throw isForgeError(error) ? error : asInternal(error);
      }
    },
  };
}

async function runOnce(
  operation: AnyOperation,
  input: Record<string, unknown>,
  request: ContextRequest,
  around: Pick<OperationCall, 'signal' | 'portion'>,
): Promise<unknown> {
  await using context = await openContext(request);
  // Awaited here: the store closes behind it.
  return await operation.run(withAround(context, around), input);
}

/** The context's properties are found out when they are asked for, and stay so. */
function withAround<T extends object>(
  context: T,
  { signal, portion }: Pick<OperationCall, 'signal' | 'portion'>,
): T {
  // the same object with two properties more
  return Object.create(context, { signal: { value: signal }, portion: { value: portion } }) as T;
}

function refuseProject(project: string): ForgeError {
  return new ForgeError('invalid_input', `project: only the project around here is served, not ${project}`, {
    hint: 'Leave project out; an id of another registered project is found by its prefix',
  });
}

function asInternal(error: unknown): ForgeError {
  const message = error instanceof Error ? error.message : String(error);
  return new ForgeError('internal', `Unexpected failure: ${message}`, { cause: error });
}
