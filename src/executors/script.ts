import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { driveSession } from './drive-session.ts';
import type { Executor, ExecutorTools, RunSpec } from './executor.ts';
import { ScriptSession } from './protocols/script-session.ts';
import { parseTrajectories, pickTrajectory, type Trajectory } from './protocols/trajectory.ts';

/** Plays a recorded trajectory, in a process of its own like every agent: for tests and for the demo. */
export function createScriptExecutor(
  tools: ExecutorTools,
  limits: { readonly bytes: number } = { bytes: LIMITS.script_bytes },
): Executor {
  return {
    async start(spec, host) {
      const { steps } = getTrajectory(spec, limits.bytes);
      const session = new ScriptSession({ steps, clock: tools.clock });
      return driveSession({ spec, host, tools, session, argv: tools.player });
    },
  };
}

function getTrajectory(spec: RunSpec, max_bytes: number): Trajectory {
  const [file] = spec.profile.command ?? [];
  if (file === undefined) {
    throw new ForgeError('invalid_input', 'The script executor needs the file of a trajectory', {
      hint: 'forge agent add <name> --executor script --command <file.json>',
    });
  }
  const path = resolve(spec.cwd, file);
  const found = pickTrajectory(parseTrajectories(readScript(path, max_bytes), path), {
    task: spec.env['FORGE_TASK_ID'],
    prompt: spec.prompt,
  });
  if (found !== undefined) return found;
  throw new ForgeError('not_found', `The script ${path} has no trajectory for this task`, {
    hint: 'Add one without "task" and "match"; it is played for every other task',
    details: { path, task: spec.env['FORGE_TASK_ID'] },
  });
}

function readScript(path: string, max_bytes: number): string {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined)
    throw new ForgeError('not_found', `There is no script ${path}`, { details: { path } });
  if (size > max_bytes) {
    throw new ForgeError('too_large', `The script ${path} has ${size} bytes; the limit is ${max_bytes}`, {
      details: { path, limit: max_bytes },
    });
  }
  return readFileSync(path, 'utf8');
}
