import { expect, it } from 'vitest';
import { NO_USAGE } from '#domain/count-usage.ts';
import { tempWorkshop } from '../../tests/support/temp-workshop.ts';
import { concludeWork } from './settle-run.ts';

it('an agent that changed nothing because it was refused something: the end says how often', async () => {
  await using shop = await tempWorkshop();
  shop.addAgent('idle', 'true');
  const task = await shop.create('Refused');
  await shop.work(task, 'idle');
  const [run] = await shop.place.store.listRuns({ task_id: task.id });
  const [attempt] = await shop.place.store.listAttempts({ task_id: task.id });
  if (run === undefined || attempt === undefined) throw new Error('no run');
  const end = { outcome: 'completed', exit_code: 0, usage: NO_USAGE, survivors: 0 } as const;
  const conclude = async (denials: number) =>
    concludeWork(shop.place, { task, attempt, run }, { ...end, denials });
  expect(await conclude(0)).toMatchObject({ outcome: 'no_change' });
  expect(await conclude(1)).toMatchObject({
    outcome: 'denied',
    message: '1 request was refused, and nothing changed',
  });
  expect(await conclude(2)).toMatchObject({
    outcome: 'denied',
    message: '2 requests were refused, and nothing changed',
  });
});
