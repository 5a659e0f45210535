import type { Workshop } from '#engine/workshop.ts';
import type { HomePlace } from '#sync/forge-home.ts';
import type { FoundProject } from '#sync/find-project.ts';
import type { Machine } from '#sync/machine.ts';
import { openFound } from '../open-context.ts';
import { openWorkshop } from '../open-workshop.ts';

export interface ProjectWorkshop extends AsyncDisposable {
  readonly workshop: Workshop;
}

/** With a connection of its own: work goes on for hours, whatever becomes of the request that began it. */
export async function openProjectWorkshop(
  found: FoundProject,
  {
    place,
    machine,
    notice,
  }: { readonly place: HomePlace; readonly machine: Machine; readonly notice: (line: string) => void },
): Promise<ProjectWorkshop> {
  const project = await openFound(
    found,
    { env: machine.env, notice, meter: () => undefined },
    { lock: 'await' },
  );
  const workshop = openWorkshop(project, { place, machine });
  return {
    workshop,
    async [Symbol.asyncDispose]() {
      await workshop.stop();
      await project[Symbol.asyncDispose]();
    },
  };
}
