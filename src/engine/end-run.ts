import type { Run } from '#contract/attempt.ts';
import { isAgentFault } from '#domain/decide-suspension.ts';
import { isEnded } from '#domain/run-states.ts';
import type { RunMove } from '#store/attempt-store.ts';
import { joinSentences } from './harvest-warnings.ts';
import type { AgentEnd } from './run-agent.ts';
import type { Conclusion } from './settle-run.ts';
import { systemWriter, type WorkPlace } from './work.ts';

/** Writes down how a run ended. One that somebody else has ended stays as it is. */
export async function endRun(
  place: WorkPlace,
  run: Run,
  end: AgentEnd,
  conclusion: Conclusion,
): Promise<Run> {
  const { store } = place;
  const { outcome, retry_after } = conclusion;
  const message = joinSentences([conclusion.message, end.warning]);
  const move = (to: RunMove['to'], more: Partial<RunMove> = {}): Promise<Run> =>
    store.moveRun({ id: run.id, to, ...more }, systemWriter(place));
  const now = await store.getRun(run.id);
  if (isEnded(now.state)) return now;
  if (end.outcome === 'completed') await move('verifying');
  const told = { outcome, message, retry_after, usage: end.usage };
  const ended = await move(toRunState(conclusion, end), told);
  place.watch({ kind: 'run', run: ended });
  return ended;
}

function toRunState({ outcome }: Conclusion, end: Pick<AgentEnd, 'outcome'>): RunMove['to'] {
  if (outcome === 'completed') return 'completed';
  if (end.outcome === 'completed') return 'failed';
  if (outcome === 'stopped') return 'cancelled';
  return isAgentFault(outcome) || outcome === 'cap_reached' ? 'blocked' : 'failed';
}
