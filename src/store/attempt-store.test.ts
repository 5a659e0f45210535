import { tempStore } from '../../tests/support/temp-store.ts';
import type { WorkUnderTest } from './behaviour/open-work-behaviour.ts';
import { openSqliteStore } from './sqlite/open-sqlite-store.ts';
import { describeWork } from './work-behaviour.ts';

describeWork('SQLite', () => openWork('block'));
describeWork('SQLite, in a process that must not stand still: the', () => openWork('await'));

async function openWork(lock: 'block' | 'await'): Promise<WorkUnderTest> {
  const temp = await tempStore({ lock });
  const { database, replica, clock } = temp;
  const connectAgain = () => openSqliteStore({ database, replica, clock, lock, lock_timeout_ms: 10_000 });
  return Object.assign(temp, { connectAgain });
}
