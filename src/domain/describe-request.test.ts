import { expect, it } from 'vitest';
import { describeRequest } from './describe-request.ts';

const ASKED = { tool: 'Bash', input: { a: 1 }, command: null, paths: [] };

it.each([
  ['its command', { command: 'rm x' }, 'Bash: rm x'],
  ['its command once, where the tool has no other name', { tool: 'rm x', command: 'rm x' }, 'rm x'],
  ['its command and where', { command: 'rm x', paths: ['/a', '/b'] }, 'Bash: rm x (at /a, /b)'],
  ['its files', { tool: 'Write', paths: ['/a'] }, 'Write /a'],
  ['its input, where that is all', {}, 'Bash {"a":1}'],
  ['the tool alone, where its input is empty', { input: {} }, 'Bash'],
  ['the tool alone, where it has no input', { input: null }, 'Bash'],
  ['the tool alone, where no input was told', { input: undefined }, 'Bash'],
])('a person who is asked reads %s', (_, more, told) => {
  expect(describeRequest({ ...ASKED, ...more })).toBe(told);
});
