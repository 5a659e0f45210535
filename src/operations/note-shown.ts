import { isInsideRun } from '#engine/is-inside-run.ts';
import { isForgeError } from '#kernel/errors.ts';
import { noteTold } from '#sync/rescue-memory.ts';
import type { Rescued } from '#sync/rescued-work.ts';
import type { OperationContext } from './operation.ts';

type Refs = readonly Pick<Rescued, 'ref' | 'commit'>[];

/** A person is told of these of all rescue refs, so that they need not stay for ever. An agent is none. */
export async function noteShown(
  { project, actor, machine, clock }: OperationContext,
  { all, told }: { readonly all: Refs; readonly told: Refs },
): Promise<void> {
  if ((await actor()).kind !== 'user' || isInsideRun(machine.env)) return;
  try {
    await noteTold(project.paths, { all, told, now: clock.now() });
  } catch (error) {
    // They stay the longer for it, and what was asked for is answered.
    if (!isForgeError(error) && !(error instanceof Error && 'code' in error)) throw error;
  }
}
