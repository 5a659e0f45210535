import { dirname, join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { openSqliteStore } from '../../src/store/open-sqlite-store.ts';

// What `forge claim --next` does, without starting a process each time.
const [database = '', name = ''] = process.argv.slice(2);
const store = await openSqliteStore({
  database,
  replica: join(dirname(database), 'tasks.jsonl'),
  clock: systemClock,
});
process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
const actor = { kind: 'agent', name, named: true } as const;
const claimed: string[] = [];
for (;;) {
  const task = await store.claimNext({ assignee: name }, { actor, now: systemClock.now() });
  if (task === undefined) break;
  claimed.push(task.id);
}
process.stdout.write(`${claimed.join('\n')}\n`);
await store[Symbol.asyncDispose]();
process.stdin.destroy();
