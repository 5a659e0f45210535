import type { Attempt } from '#contract/attempt.ts';
import type { TranscriptEntry } from '#contract/transcript.ts';
import { describeStray } from '#domain/describe-stray.ts';
import { findStray } from '#git/checkout-tips.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { findSecretsOf } from './agent-secrets.ts';
import { systemWriter, type WorkPlace } from './work.ts';

type Place = Pick<WorkPlace, 'store' | 'clock' | 'workflow' | 'watch' | 'env' | 'agents' | 'home'>;

/**
 * For whoever stays with a run: a call now and then looks where HEAD of the attempt's folder stands. Each change is told
 * once, in the run's log and everywhere else. Costs a few file reads, and no git.
 */
export function watchStray(
  place: Place,
  attempt: Attempt,
  tell: (entry: TranscriptEntry) => void,
): () => Promise<void> {
  // What was found before the run began is told in its log too.
  let known: string | null | undefined = attempt.strayed === null ? null : undefined;
  let looked = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - looked < LIMITS.stray_look_ms) return;
    looked = performance.now();
    const strayed = await findShownStray(place, attempt);
    // What the store could not keep is told by the next look.
    if (strayed === known || !(await noteStray(place, attempt, strayed))) return;
    known = strayed;
    const text = escapeLine(describeStray({ ...attempt, strayed }));
    tell(strayed === null ? { kind: 'note', text } : { kind: 'error', code: 'worktree_strayed', text });
  };
}

/** For whoever stays between runs: looks at the folders of all unfinished attempts that no run is at work in. */
export async function lookForStrays(place: Place): Promise<void> {
  const { store } = place;
  const [attempts, open] = await Promise.all([
    store.listAttempts({ there: true, state: 'active' }),
    store.listOpenRuns(),
  ]);
  const watched = new Set(open.map(({ run }) => run.attempt_id));
  for (const attempt of attempts) {
    if (watched.has(attempt.id)) continue;
    const strayed = await findShownStray(place, attempt);
    if (strayed !== attempt.strayed) await noteStray(place, attempt, strayed);
  }
}

/** An agent gives its branches their names: what it must not tell is in none that is kept or shown. */
async function findShownStray(place: Place, attempt: Attempt): Promise<string | null> {
  const strayed = findStray(attempt);
  if (strayed === undefined) return null;
  const { redact } = await findSecretsOf(place, attempt);
  return redact(strayed);
}

/** False where it could not be written down. */
async function noteStray(place: Place, attempt: Attempt, strayed: string | null): Promise<boolean> {
  const { id, task_id } = attempt;
  try {
    await place.store.changeAttempt({ id, strayed }, systemWriter(place));
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return false;
  }
  const text = escapeLine(describeStray({ ...attempt, strayed }));
  place.watch({ kind: 'note', task_id, attempt_id: id, text });
  return true;
}
