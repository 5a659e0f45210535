import { expect } from 'vitest';
import { WHY_NOT_ALONE } from './hostile-marks.ts';
import { hostilePlace } from './hostile-place.ts';
import type { HostileRepository } from './hostile-repository.ts';
import type { SweptVerb } from './hostile-sweep.ts';
import { VERBS } from './hostile-verbs.ts';

/**
 * Every verb in a clone of it, before anybody has trusted it. Then, in another clone, what it is a trap for: a trap that
 * nobody could see closing would prove nothing. `note` is told where packets were counted.
 */
export async function expectNothingRun(
  hostile: HostileRepository,
  note: (text: string) => Promise<unknown>,
): Promise<void> {
  {
    await using place = await hostilePlace(hostile);
    const swept = await place.sweep();
    expect(findViolations(hostile, swept)).toEqual([]);
    expect(swept).toHaveLength(VERBS.length);
  }
  await using trap = await hostilePlace(hostile);
  const caught = await trap.shell(hostile.careless(trap.canary));
  // A trap on the network is seen only where its packets are counted.
  if (WHY_NOT_ALONE === undefined || hostile.sends !== true) expect(caught).not.toEqual([]);
  if (WHY_NOT_ALONE === undefined) await note('1 network without a packet');
}

/** What ran, was changed outside or was sent by a verb that has no need of it. */
export function findViolations({ may }: HostileRepository, swept: readonly SweptVerb[]): string[] {
  return swept.flatMap(({ operation, line, marks }) =>
    marks.filter((mark) => may?.[mark]?.includes(operation) !== true).map((mark) => `forge ${line}: ${mark}`),
  );
}
