import { compareText } from '#kernel/text.ts';
import type { AttemptView, PickRule } from '#contract/attempt.ts';

/** One of several attempts at a task, as far as the choice between them is concerned. */
export interface Candidate extends Pick<AttemptView, 'id' | 'number' | 'result' | 'changes'> {
  /** When its checks had passed; null where they have not. */
  readonly green_at: string | null;
}

export type PickDecision<C extends Candidate> =
  | { readonly outcome: 'picked'; readonly candidate: C; readonly why: string }
  | { readonly outcome: 'ask_reviewer' | 'ask_person'; readonly green: readonly C[] }
  /** Something was cut off that has yet to be finished. */
  | { readonly outcome: 'unfinished' }
  /** No agent could work: it is tried again when one of them can. */
  | { readonly outcome: 'unavailable' }
  /** Every check that ran said no. */
  | { readonly outcome: 'none_green' }
  /** Nobody got as far as the checks. */
  | { readonly outcome: 'all_failed' };

/** Which of them goes on. `first_green` does not wait for the others; every other rule wants to see all of them. */
export function decidePick<C extends Candidate>(rule: PickRule, candidates: readonly C[]): PickDecision<C> {
  const green = candidates.filter(({ result }) => result === 'green').toSorted(byNumber);
  const first = green.toSorted((a, b) => compareText(a.green_at ?? '', b.green_at ?? ''))[0];
  if (rule === 'first_green' && first !== undefined)
    return { outcome: 'picked', candidate: first, why: 'the first that was green' };
  if (first !== undefined && candidates.length === 1)
    return { outcome: 'picked', candidate: first, why: 'the only one' };
  if (candidates.some(({ result }) => isUnfinished(result))) return { outcome: 'unfinished' };
  if (candidates.length > 0 && candidates.every(({ result }) => result === 'unavailable'))
    return { outcome: 'unavailable' };
  if (first === undefined)
    return { outcome: candidates.some(({ result }) => result === 'red') ? 'none_green' : 'all_failed' };
  switch (rule) {
    case 'first_green':
    case 'person':
      return { outcome: 'ask_person', green };
    case 'smallest_green': {
      const smallest = green.toSorted((a, b) => sizeOf(a) - sizeOf(b))[0] ?? first;
      return { outcome: 'picked', candidate: smallest, why: 'the smallest green diff' };
    }
    case 'reviewer':
      return green.length === 1
        ? { outcome: 'picked', candidate: first, why: 'the only one that is green' }
        : { outcome: 'ask_reviewer', green };
  }
}

/** What is cut off is finished; what is red or failed has another go only where nothing is green. */
export function needsWork(result: AttemptView['result'], isAnyGreen: boolean): boolean {
  switch (result) {
    case 'unbegun':
    case 'cut_off':
      return true;
    case 'failed':
    case 'unavailable':
    case 'red':
      return !isAnyGreen;
    case 'working':
    case 'unchecked':
    case 'green':
      return false;
  }
}

function isUnfinished(result: AttemptView['result']): boolean {
  return result === 'unbegun' || result === 'working' || result === 'cut_off' || result === 'unchecked';
}

/** Lines that were changed; what cannot be counted is larger than everything else. */
function sizeOf({ changes }: Candidate): number {
  return changes === null ? Number.POSITIVE_INFINITY : changes.insertions + changes.deletions;
}

function byNumber(a: Candidate, b: Candidate): number {
  return a.number - b.number;
}
