import { expect, it } from 'vitest';
import { ForgeError } from '#kernel/errors.ts';
import { createFailureTeller } from './tell-failures.ts';

it('tells every failure, but few of those that say only that the server is busy', () => {
  const lines: string[] = [];
  let now = 1_000_000;
  const tell = createFailureTeller(
    { now: () => now },
    { notice: (line) => void lines.push(line), toMessage: (error) => (error as Error).message },
  );
  const busy = new ForgeError('server_busy', 'busy');
  for (let at = 0; at < 1_000; at += 1) tell({ request_id: `${at}`, error: busy });
  tell({ request_id: 'a', error: new Error('broken') });
  tell({ request_id: 'b', error: new ForgeError('io_failed', 'no disk') });
  now += 10_000;
  tell({ request_id: 'c', error: busy });
  now -= 3_600_000;
  tell({ request_id: 'd', error: busy });
  expect(lines).toEqual([
    'request 0 failed: busy',
    'request a failed: broken',
    'request b failed: no disk',
    'request c failed: busy (and 999 more since the last such line)',
    'request d failed: busy',
  ]);
});
