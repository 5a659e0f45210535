import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

/** All that is kept of attempts, runs and checks. */
function readRecords(): string {
  const files = readdirSync(shop.place.records, { recursive: true, withFileTypes: true });
  return files
    .filter((one) => one.isFile() && one.name.endsWith('.jsonl'))
    .map((one) => readFileSync(join(one.parentPath, one.name), 'utf8'))
    .join('');
}

describe('what a run knows', () => {
  it('[S13] is not told by its log, the key of its socket neither', async () => {
    const key = 'key-of-the-socket-of-this-run';
    const open = async () => ({
      env: { FORGE_SOCKET: '/none/sock', FORGE_SOCKET_KEY: key },
      path: '/none/sock',
      [Symbol.asyncDispose]: async () => {},
    });
    Object.assign(shop.place, { openRunSocket: open });
    shop.addAgent('w1', 'echo "all: $FORGE_SOCKET_KEY $GIVEN"', { env: { GIVEN: 'given-to-the-agent' } });
    await shop.work(await shop.create('Say it'), 'w1');
    expect(readRecords()).toContain('all: [redacted] [redacted]');
    expect(readRecords()).not.toContain(key);
  });

  it('[S17] is not told by a check after its agent was given another value, or is gone', async () => {
    const script = 'echo "left: $GIVEN" | tee left.txt';
    shop.addAgent('w1', script, { env: { GIVEN: 'the-first-value' } });
    const task = await shop.create('Leave it', { steps: ['cat left.txt; false'] });
    await shop.work(task, 'w1');
    shop.removeAgent('w1');
    await shop.move(task, 'todo');
    await shop.move(task, 'in_progress');
    await shop.move(task, 'review');
    const reviews = JSON.stringify(await shop.place.store.listReviews({ task_id: task.id }));
    const news = JSON.stringify(shop.news);
    expect(`${reviews}${news}`).toContain('left: [redacted]');
    for (const said of [reviews, news, readRecords()]) expect(said).not.toContain('the-first-value');
  });
});
