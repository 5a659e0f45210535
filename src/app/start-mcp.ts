import { OPERATIONS } from '#contract/operations.ts';
import { ForgeError } from '#kernel/errors.ts';
import { createServerFactory } from '#surfaces/mcp/create-server.ts';
import { serveOverStdio } from '#surfaces/mcp/stdio.ts';
import { chooseName, findActor } from './find-actor.ts';
import { createLocalCaller } from './local-caller.ts';
import type { ContextRequest } from './open-context.ts';
import { findCommandPlace } from './run/inside-run.ts';
import { createSocketCaller } from './run/socket-operation.ts';
import { VERSION } from './version.ts';

const SERVE = { name: 'mcp.serve', path: ['mcp'], needs: 'nothing', local: true } as const;

/** `forge mcp`: the local store to whoever started this process, until standard input ends. */
export async function startMcp(request: ContextRequest): Promise<void> {
  // The protocol has standard output to itself, so there is no place for an answer of the command.
  if (process.argv.includes('--json'))
    throw new ForgeError('usage', '`forge mcp` speaks its own protocol: --json has no place', {
      hint: 'forge mcp',
    });
  const { cwd, env, notice } = request;
  const actor = await chooseName(request.actor, env);
  const inside = findCommandPlace({ operation: SERVE, env, cwd, server: undefined, actor, input: {} });
  const operations =
    inside.kind === 'socket'
      ? createSocketCaller(inside)
      : createLocalCaller(
          // Progress would go to standard output.
          { actor, cwd, env, notice, meter: () => undefined, progress: () => undefined },
        );
  const createServer = createServerFactory({
    operations,
    declarations: OPERATIONS,
    version: VERSION,
    projects: () => [],
  });
  const caller = { actor: findActor({ flag: actor, env, cwd }), scope: 'admin', token: 'stdio' } as const;
  await serveOverStdio(() => createServer(caller), {
    input: process.stdin,
    output: process.stdout,
    report: notice,
  });
}
