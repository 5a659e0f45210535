import { randomUUID } from 'node:crypto';
import { OPERATIONS } from '#contract/operations.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { OperationCaller } from '#operations/call-operation.ts';
import type { Accepted, AnyOperation } from '#operations/flag-table.ts';
import { readAnswer } from '../remote-operation.ts';
import { postJson } from '../remote-request.ts';

export interface SocketPlace {
  readonly path: string;
  readonly key: string;
}

/** The operation as the watcher of this run does it. Who asks is the agent of the run. */
export function createSocketOperation(
  operation: AnyOperation,
  { globals, operation: { name } }: Accepted,
  place: SocketPlace,
): AnyOperation {
  return {
    run(_, input) {
      if (globals.actor !== undefined)
        throw new ForgeError('usage', '--actor has no say inside of a run: its agent is who asks', {
          hint: `forge ${name.replace('.', ' ')} without --actor`,
        });
      return callSocket(place, name, input);
    },
    text: (output, view) => operation.text(output, view),
  };
}

/** For `forge mcp` inside of a run. */
export function createSocketCaller(place: SocketPlace): OperationCaller {
  return { call: ({ name, input }) => callSocket(place, name, input) };
}

async function callSocket({ path, key }: SocketPlace, name: string, input: unknown): Promise<unknown> {
  const url = new URL(`http://localhost/api/v1/operations/${name}`);
  const declaration = OPERATIONS.find((one) => one.name === name);
  const answer = await postJson(url, {
    token: key,
    socket: path,
    body: JSON.stringify(input),
    key: declaration?.access === 'read' ? undefined : randomUUID(),
  });
  return readAnswer(url, answer, declaration);
}
