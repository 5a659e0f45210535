import type { Task, TaskView } from '#contract/task.ts';
import { readWait, type WaitPlace } from '#engine/read-wait.ts';
import type { OperationContext } from './operation.ts';

/** What is asked about the tasks of this project that wait; loads the rest only where a task needs it. */
export function waitPlace({ project, machine, place: { home } }: OperationContext): WaitPlace {
  const { store, workflow, paths } = project;
  return {
    store,
    workflow: workflow(),
    async isManaged(agent) {
      const { openAgentFacts } = await import('#sync/agent-facts.ts');
      return openAgentFacts(home).isManaged(agent);
    },
    async trustsChecks(task) {
      const [{ listUntrusted }, { readWorkSettings }, { findGatePaths }] = await Promise.all([
        import('#sync/trust.ts'),
        import('#sync/work-settings.ts'),
        import('#sync/gate-files.ts'),
      ]);
      const { settings } = await findGatePaths(project, machine);
      const { review, workspace } = readWorkSettings({ paths: settings }, home);
      const steps = task.review_config?.ci_steps ?? review.ci_steps;
      return (await listUntrusted({ home, paths }, [...workspace.setup, ...steps])).length === 0;
    },
  };
}

/** Why a task waits for a person, as a field of an answer; none where it waits for no person. */
export async function waitOf(ctx: OperationContext, task: Task): Promise<Pick<TaskView, 'wait'>> {
  if (task.status === 'closed') return {};
  const wait = await readWait(waitPlace(ctx), task);
  return wait === undefined ? {} : { wait: { message: wait.message, command: wait.command } };
}
