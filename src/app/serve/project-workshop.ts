import type { Workshop } from '#engine/workshop.ts';
import type { OpenProject } from '#operations/operation.ts';
import type { ExportPart } from '#store/replication.ts';
import type { HomePlace } from '#sync/forge-home.ts';
import type { FoundProject } from '#sync/find-project.ts';
import type { Machine } from '#sync/machine.ts';
import { keepProcesses, type ProcessKeeper } from '../keep-processes.ts';
import { openFound } from '../open-context.ts';
import { openWorkshop } from '../open-workshop.ts';
import { OpenedProject } from './opened-project.ts';

export interface ProjectWorkshop extends AsyncDisposable {
  readonly workshop: Workshop;
  /** Follows a database that others replaced: work that goes on is written to the one that stands there now. */
  follow(): Promise<void>;
}

/** With a connection of its own: work goes on for hours, whatever becomes of the request that began it. */
export async function openProjectWorkshop(
  found: FoundProject,
  {
    place,
    machine,
    notice,
    processes = keepProcesses({ env: machine.env, notice }),
  }: {
    readonly place: HomePlace;
    readonly machine: Machine;
    readonly notice: (line: string) => void;
    readonly processes?: ProcessKeeper | undefined;
  },
): Promise<ProjectWorkshop> {
  const open = async (): Promise<OpenedProject> =>
    new OpenedProject(
      await openFound(found, { env: machine.env, notice, meter: () => undefined }, { lock: 'await' }),
    );
  let opened = await open();
  const workshop = openWorkshop(
    followProject(() => opened),
    { place, machine, processes },
  );
  return {
    workshop,
    async follow() {
      await opened.use(({ lookAtWorkflow }) => lookAtWorkflow());
      if (!opened.isReplaced) return;
      const before = opened;
      opened = await open();
      await before.retire();
    },
    async [Symbol.asyncDispose]() {
      await workshop.stop();
      await opened.retire();
    },
  };
}

/** The store that an export was begun on stays open until its end. */
async function* followExport(
  current: () => OpenedProject,
  name: 'exportTasks' | 'exportHistory',
  path: string,
): AsyncGenerator<ExportPart> {
  const parts = await current().use(async ({ store }) => {
    const all: ExportPart[] = [];
    for await (const part of store[name](path)) all.push(part);
    return all;
  });
  yield* parts;
}

/** A project whose store and workflow are always those of the database that stands there now. */
function followProject(current: () => OpenedProject): OpenProject {
  const { project } = current();
  const store = new Proxy(project.store, {
    get(_, name) {
      const value: unknown = Reflect.get(current().project.store, name);
      if (typeof value !== 'function') return value;
      if (name === 'exportTasks' || name === 'exportHistory')
        return (path: string) => followExport(current, name, path);
      // Every other method of the port answers with a promise.
      return (...given: unknown[]) =>
        current().use(async ({ store: now }) => (await Reflect.apply(value, now, given)) as unknown);
    },
  });
  return Object.create(project, {
    store: { value: store },
    workflow: { value: () => current().project.workflow() },
    lookAtWorkflow: { value: () => current().project.lookAtWorkflow() },
  }) as OpenProject;
}
