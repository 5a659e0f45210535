import { expect, it } from 'vitest';
import { mayTakeWatch, writeMark } from './process-mark.ts';

const ONE = { host: 'here', boot_id: 'b-1', pid_namespace: 'pid:[1]', pid: 7, start_time: 1 };
const SAME = { start_time: 1, pid: 7, pid_namespace: 'pid:[1]', boot_id: 'b-1', host: 'here' };

it.each([
  ['of no process, whoever has it', ONE, undefined, true],
  ['of the one that has it', ONE, SAME, true],
  ['of another one', ONE, { ...ONE, start_time: 2 }, false],
  ['of none, while one has it', ONE, null, false],
  ['of one, while none has it', null, ONE, false],
  ['of none that has it', null, null, true],
])('a watch is taken over %s', (_, has, from, may) => {
  expect(mayTakeWatch(has, from)).toBe(may);
});

it.each(
  Object.entries({ host: 'x', boot_id: 'x', pid_namespace: 'x', around: ['x'], pid: 8, start_time: 2 }),
)('another %s is another process', (name, value) => {
  expect(writeMark(SAME)).toBe(writeMark(ONE));
  expect(writeMark({ ...ONE, [name]: value })).not.toBe(writeMark(ONE));
});
