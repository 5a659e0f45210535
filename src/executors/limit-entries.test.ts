import { expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { limitEntries } from './limit-entries.ts';
import type { SessionStep } from './protocols/session.ts';

it('tells so many entries of one line, and does all else that it asks for', () => {
  const tell = (text: string): SessionStep => ({ do: 'tell', entry: { kind: 'note', text } });
  const most = LIMITS.agent_line_entries;
  const few = Array.from({ length: most }, (_, at) => tell(`${at}`));
  expect(limitEntries(few)).toBe(few);
  const write: SessionStep = { do: 'write', line: 'answer' };
  const many = [...few, tell('one more'), write, tell('another'), { do: 'finish' } as const];
  expect(limitEntries(many)).toEqual([
    ...few,
    write,
    { do: 'finish' },
    tell('2 more entries of one line are left out'),
  ]);
  const writes = Array.from({ length: most + 5 }, () => write);
  expect(limitEntries(writes)).toBe(writes);
});
