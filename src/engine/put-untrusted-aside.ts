import { isForgeError } from '#kernel/errors.ts';
import type { Engine } from './engine.ts';
import { transitionTask } from './transition-task.ts';

/** A task whose checks need leave would stand among the ready ones, and no person would hear of it. */
export async function putUntrustedAside(engine: Engine, id: string, error: unknown): Promise<void> {
  const { blocked } = engine.workflow;
  if (!isForgeError(error) || error.code !== 'untrusted' || blocked === undefined) return;
  const { code, message } = error;
  try {
    await transitionTask(engine, { id, to: blocked, reason: message, annotation: { code, message } });
  } catch (refused) {
    // Another process was faster, or the workflow has no such way: it stays where it is.
    if (!isForgeError(refused)) throw refused;
  }
}
