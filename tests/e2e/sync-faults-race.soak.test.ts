import { test } from 'vitest';
import { expectJoinedOnce } from '../support/task-file-races.ts';

test('twenty commands that find the same 10,000 new lines: they are joined in once', () =>
  expectJoinedOnce({ commands: 20, tasks: 10_000 }));
