import type { Run } from '#contract/attempt.ts';
import { openContext } from '#app/open-context.ts';
import { claimTask } from '#engine/change-task.ts';
import type { Workshop } from '#engine/workshop.ts';
import { engineOf } from '#operations/engine-of.ts';
import type { OperationContext } from '#operations/operation.ts';
import { addAgent } from '#sync/agent-identities.ts';
import { trustCommands } from '#sync/trust.ts';
import { expect } from 'vitest';
import { forgeProjectHere } from './forge-here.ts';

type Project = Awaited<ReturnType<typeof forgeProjectHere>>;

/** A project with a first commit, and agents that work on its tasks in this process. */
export interface ProjectWork extends AsyncDisposable {
  readonly project: Project;
  readonly ctx: OperationContext;
  readonly workshop: Workshop;
  /** One that runs this script of bash in the attempt's folder. */
  addAgent(name: string, script: string): Promise<void>;
  /** What a repository brings runs after this only. */
  trust(...steps: string[]): Promise<void>;
  /** Claims the task for the agent; answers when its program runs. */
  start(id: string, agent: string): Promise<Run>;
  /** The same, until nothing is at work on the task any more. */
  finish(id: string, agent: string): Promise<Run>;
}

export async function openProjectWork(
  options: Parameters<typeof forgeProjectHere>[0] = {},
): Promise<ProjectWork> {
  const project = await forgeProjectHere(options);
  project.git('add', '-A');
  project.git('commit', '--quiet', '-m', 'first');
  const quiet = (): void => undefined;
  const ctx = await openContext({
    needs: 'project',
    cwd: project.path,
    env: project.env,
    actor: 'user:ann',
    progress: quiet,
    notice: quiet,
    meter: quiet,
  });
  const workshop = await ctx.workshop();
  const { store } = ctx.project;
  const claim = async (id: string, agent: string): Promise<void> => {
    const engine = { ...(await engineOf(ctx)), follows: true };
    const { outcome } = await claimTask(engine, { id, assignee: agent, force: false });
    expect(outcome).toBe('claimed');
  };
  const last = async (id: string): Promise<Run> => {
    const run = (await store.listRuns({ task_id: id })).at(-1);
    if (run === undefined) throw new Error(`${id} has no run`);
    return run;
  };
  return {
    project,
    ctx,
    workshop,
    addAgent: async (name, script) => {
      const wish = { executor: 'shell', command: ['bash', '-c', script], permissions: 'all' } as const;
      await addAgent(ctx.place.home, { name, wish, now: Date.now() });
    },
    trust: async (...steps) => {
      const { paths } = ctx.project;
      await trustCommands({ home: ctx.place.home, paths }, steps, { now: Date.now(), by: 'user:ann' });
    },
    async start(id, agent) {
      await claim(id, agent);
      await expect.poll(async () => (await last(id)).pid, { timeout: 20_000 }).not.toBeNull();
      return last(id);
    },
    async finish(id, agent) {
      await claim(id, agent);
      await workshop.settled(id);
      return last(id);
    },
    async [Symbol.asyncDispose]() {
      await ctx[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}
