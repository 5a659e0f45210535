import { LIMITS } from '#kernel/limits.ts';
import type { SessionStep } from './protocols/session.ts';

/** One line with many blocks is many entries, and each is looked at, kept and shown. All else that a line asks for is done. */
export function limitEntries(steps: readonly SessionStep[]): readonly SessionStep[] {
  const most = LIMITS.agent_line_entries;
  if (steps.length <= most) return steps;
  let told = 0;
  const kept = steps.filter((step) => step.do !== 'tell' || (told += 1) <= most);
  if (told <= most) return steps;
  const text = `${told - most} more entries of one line are left out`;
  return [...kept, { do: 'tell', entry: { kind: 'note', text } }];
}
