import { NO_AGENTS } from '#domain/claimer.ts';
import { dirname, join } from 'node:path';
import { systemClock } from '#kernel/clock.ts';
import { openSqliteStore } from '#store/open-sqlite-store.ts';

// What `forge claim --next` does, without starting a process each time.
const [database = '', name = ''] = process.argv.slice(2);
const store = await openSqliteStore({
  database,
  replica: join(dirname(database), 'tasks.jsonl'),
  clock: systemClock,
});
const actor = { kind: 'agent', name, named: true } as const;
// Loads what a write needs, as the baseline has its statement prepared: a task that is not there changes nothing.
await store
  .claimTask(
    { id: 'fg-none', assignee: name, force: false, agents: NO_AGENTS },
    { actor, now: systemClock.now() },
  )
  .catch(() => undefined);
process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
const claimed: string[] = [];
for (;;) {
  const task = await store.claimNext(
    { assignee: name, agents: NO_AGENTS },
    { actor, now: systemClock.now() },
  );
  if (task === undefined) break;
  claimed.push(task.id);
}
process.stdout.write(`${claimed.join('\n')}\n`);
await store[Symbol.asyncDispose]();
process.stdin.destroy();
