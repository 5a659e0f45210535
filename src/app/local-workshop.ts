import type { Workshop } from '#engine/workshop.ts';
import type { OpenProject } from '#operations/operation.ts';
import { escapeLine } from '#kernel/text.ts';
import type { HomePlace } from '#sync/forge-home.ts';
import type { Machine } from '#sync/machine.ts';
import { keepProcesses } from './keep-processes.ts';
import { openWorkshop } from './open-workshop.ts';

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * The workshop of one command. Agents are in sessions of their own, so that Ctrl-C reaches only us: what was started
 * is ended before this process ends.
 */
export function openLocalWorkshop(
  project: OpenProject,
  around: {
    readonly place: HomePlace;
    readonly machine: Machine;
    readonly notice: (line: string) => void;
  },
): Workshop & AsyncDisposable {
  const processes = keepProcesses({ env: around.machine.env, notice: around.notice });
  const workshop = openWorkshop(project, { ...around, processes });
  // What a command that shows no progress of its own has to say to a person, such as a push that was rejected.
  workshop.listen((news) => {
    if (news.kind === 'note' && workshop.listeners === 1) around.notice(escapeLine(news.text));
  });
  const follows = followWorkflow(project);
  let isLeaving = false;
  const listeners = Object.entries(SIGNALS).map(([signal, exit]) => {
    const leave = (): void => {
      if (!isLeaving) {
        isLeaving = true;
        if (workshop.busy > 0) around.notice('stopping what is at work');
        const end = (): never => process.exit(exit);
        workshop.stop().then(end, end);
        return;
      }
      // A terminal that is closed may say so more than once.
      if (signal === 'SIGHUP') return;
      // A second one is meant: nothing is waited for, and nothing is left at work.
      processes.killNow();
      process.exit(exit);
    };
    process.on(signal, leave);
    return () => void process.off(signal, leave);
  });
  return Object.assign(workshop, {
    async [Symbol.asyncDispose]() {
      // The command is done, and what it has merged is on its way: only a signal ends that.
      await workshop.pushed();
      await workshop.stop();
      for (const off of listeners) off();
      clearInterval(follows);
    },
  });
}

const FOLLOW_MS = 1_000;

/** Another process may change it while agents are at work here. What keeps a look from being made is told by the next write. */
function followWorkflow({ lookAtWorkflow }: OpenProject): NodeJS.Timeout {
  let look: Promise<void> | undefined;
  const timer = setInterval(() => {
    look ??= lookAtWorkflow()
      .catch(() => undefined)
      .finally(() => (look = undefined));
  }, FOLLOW_MS);
  return timer.unref();
}
