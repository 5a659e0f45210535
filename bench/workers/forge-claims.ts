import { NO_AGENTS } from '#domain/claimer.ts';
import { systemClock } from '#kernel/clock.ts';
import { openStore } from '#store/open-store.ts';
import { locationOf } from '#store/store-location.ts';

// What `forge claim --next` does, without starting a process each time.
const [database = '', name = ''] = process.argv.slice(2);
const store = await openStore(locationOf(database), { clock: systemClock });
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
