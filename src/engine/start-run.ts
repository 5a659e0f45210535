import type { Attempt, Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { composeFollowUp, composePrompt } from '#domain/compose-prompt.ts';
import { keepsSessions } from '#executors/executor-types.ts';
import { readEarlierWork } from './earlier-work.ts';
import { runAgent, toAgentEnvironment, type AgentEnd } from './run-agent.ts';
import { systemWriter, type Hold, type ManagedAgent, type WorkPlace } from './work.ts';

/** One run of an agent in an attempt. */
export interface Job {
  readonly task: Task;
  readonly attempt: Attempt;
  readonly run: Run;
  readonly agent: ManagedAgent;
}

/** The row of a run that is about to be started; it goes on with the conversation of the agent's last one there. */
export async function createRun(
  place: WorkPlace,
  {
    attempt,
    role,
    agent,
    hold,
  }: Pick<Job, 'attempt' | 'agent'> & { readonly role: string; readonly hold: Hold },
): Promise<Run> {
  const { store, watcher } = place;
  const before = (await store.listRuns({ attempt_id: attempt.id })).findLast(
    (run) => run.agent === agent.name && run.role === role && run.session_id !== null,
  );
  const { executor } = agent.profile;
  const id = crypto.randomUUID();
  const run = await store.createRun(
    {
      id,
      attempt_id: attempt.id,
      role,
      agent: agent.name,
      executor,
      ...hold,
      state: 'scheduled',
      session_id: before?.session_id ?? crypto.randomUUID(),
      watcher,
    },
    systemWriter(place),
  );
  place.watch({ kind: 'run', run });
  return run;
}

/** Tells the agent what there is to do and to know, and stays with it to its end. */
export async function runWork(
  place: WorkPlace,
  { task, attempt, run, agent, output_schema }: Job & { readonly output_schema?: object | undefined },
): Promise<AgentEnd> {
  const earlier = await readEarlierWork(place, attempt);
  const runs = await place.store.listRuns({ attempt_id: attempt.id });
  const resume =
    keepsSessions(agent.profile.executor) &&
    runs.some(
      ({ id, session_id, started_at }) =>
        id !== run.id && session_id === run.session_id && started_at !== null,
    );
  const { branch } = attempt;
  const plans = output_schema !== undefined;
  const subtasks = plans ? [] : await listClosed(place, task);
  const template = agent.prompt;
  const whole = composePrompt({ task, role: run.role, branch, template, plans, subtasks, earlier });
  return runAgent(place, {
    run,
    attempt,
    agent,
    resume,
    output_schema,
    read_only: plans,
    cwd: attempt.path,
    prompt: resume ? composeFollowUp(earlier) : whole,
    fresh_prompt: whole,
    env: toAgentEnvironment(place, { attempt, agent, run }),
  });
}

/** Empty as long as one is open: it is gone on with when all of them are done. */
async function listClosed({ store }: WorkPlace, { id }: Task): Promise<Task[]> {
  const subtasks = await store.listTasks({ parent_id: id, include_archived: true });
  return subtasks.every(({ status }) => status === 'closed') ? subtasks : [];
}
