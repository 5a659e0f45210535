import { findLostLife, type LostValue } from './lost-values.ts';
import { judgeLives } from './own-values.ts';
import { findUnseen, isByHand, valueAt } from './replaced-values.ts';
import { sameElement } from './same-value.ts';
import type { Element, TaskRecord } from './task-record.ts';

/**
 * Of two copies in a merge: what falls although its writer, or the writer of what stands, had not seen the other. Both
 * began with `base`, where that is known.
 */
export function findLostValues(base: TaskRecord | undefined, a: TaskRecord, b: TaskRecord): LostValue[] {
  const isShared = (name: string, { value, stamp }: Element): boolean => {
    if (base === undefined) return false;
    const began = valueAt(base, name);
    // An edit by hand has another stamp in each copy that took it in.
    return sameElement(began.value, value) && (began.stamp === stamp || isByHand(a, b, stamp));
  };
  const lost = findUnseen(a, b, { isShared });
  const life =
    base === undefined ? judgeLives(a, b, undefined).lost : findLostLife(base.life, a.life, b.life);
  return life === undefined ? lost : [...lost, life];
}
