import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A process that holds tasks by leases: claims them on a server, says so in a line, and renews them until it is killed.
 * Every renewal that the server refuses is a line of its own.
 */

export interface HolderOrders {
  readonly url: string;
  readonly token: string;
  readonly name: string;
  readonly tasks: readonly string[];
  readonly lease_s: number;
  readonly beat_ms: number;
}

const orders = JSON.parse(process.argv[2] ?? '') as HolderOrders; // the test wrote it

async function ask(path: string, body: object): Promise<{ status: number; body: string }> {
  const answer = await fetch(`${orders.url}/api/v1/tasks/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${orders.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.text() };
}

const fences = new Map<string, number>();
for (const task of orders.tasks) {
  const claimed = await ask(`${task}/claim`, { assignee: orders.name, lease: orders.lease_s });
  if (claimed.status !== 200) throw new Error(`${task} was not claimed: ${claimed.body}`);
  fences.set(task, (JSON.parse(claimed.body) as { fence: number }).fence);
}
process.stdout.write('holds\n');
for (;;) {
  await sleep(orders.beat_ms);
  for (const [task, fence] of fences) {
    const beat = await ask(`${task}/heartbeat`, { fence });
    if (beat.status === 200) continue;
    fences.delete(task);
    process.stdout.write(`${JSON.stringify({ task, ...beat })}\n`);
  }
}
