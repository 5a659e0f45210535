import { writeSync } from 'node:fs';
import type { Workshop } from '#engine/workshop.ts';
import type { OpenProject } from '#operations/operation.ts';
import type { HomePlace } from '#sync/forge-home.ts';
import type { Machine } from '#sync/machine.ts';
import { openWorkshop } from './open-workshop.ts';

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * The workshop of one command. Agents are in sessions of their own, so that Ctrl-C reaches only us: what was started
 * is ended before this process ends.
 */
export function openLocalWorkshop(
  project: OpenProject,
  around: { readonly place: HomePlace; readonly machine: Machine },
): Workshop & AsyncDisposable {
  const workshop = openWorkshop(project, around);
  const listeners = Object.entries(SIGNALS).map(([signal, exit]) => {
    const leave = (): void => {
      // A second one is meant: whatever is left is found by the next start.
      process.once(signal, () => process.exit(exit));
      if (workshop.busy > 0) writeSync(2, 'forge: stopping what is at work\n');
      const end = (): never => process.exit(exit);
      workshop.stop().then(end, end);
    };
    process.once(signal, leave);
    return () => void process.off(signal, leave);
  });
  return Object.assign(workshop, {
    async [Symbol.asyncDispose]() {
      await workshop.stop();
      for (const off of listeners) off();
    },
  });
}
