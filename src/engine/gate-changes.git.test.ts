import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { listGateChanges } from './gate-changes.ts';
import { giveVerdict } from './give-verdict.ts';
import { workTask } from './work-task.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
  await shop.repo.write('.forge/config.json', '{"review":{"ci_steps":["./ci.sh"]}}\n');
  await shop.repo.write('ci.sh', '#!/bin/sh\ntest -e x\n');
  await shop.repo.write('lib.sh', 'true\n');
  shop.repo.git('add', '-A');
  shop.repo.git('update-index', '--chmod=+x', 'ci.sh');
  shop.repo.git('commit', '-qm', 'gates');
  shop.repo.git('checkout', '-q', '--', 'ci.sh');
});
afterEach(() => shop[Symbol.asyncDispose]());

describe('[A2] an attempt that changes what judges it', () => {
  it.each([
    ['the config', 'echo "{}" > .forge/config.json', '.forge/config.json'],
    ['its removal', 'rm .forge/config.json', '.forge/config.json'],
    ['the workflow', 'echo "{}" > .forge/workflow.json', '.forge/workflow.json'],
    ['the tasks', 'echo "{}" > .forge/tasks.jsonl', '.forge/tasks.jsonl'],
    ['the script of a check', 'echo "exit 0" > ci.sh', 'ci.sh'],
    ['its mode', 'echo >> ci.sh; chmod -x lib.sh; git update-index --chmod=-x ci.sh', 'ci.sh'],
  ])('%s is merged only when a person has passed it', async (_, script, file) => {
    shop.addAgent('sly', `echo x > x; ${script}`);
    const task = await shop.create('Sly', { steps: ['bash ci.sh'] });
    const before = shop.repo.git('rev-parse', 'main');
    await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'sly', merge: true });
    expect(shop.repo.git('rev-parse', 'main')).toBe(before);
    const [review] = await shop.place.store.listReviews({ task_id: task.id });
    expect(review?.status).toBe('waiting');
    const { error_annotation } = await shop.place.store.getTask(task.id);
    expect(error_annotation).toMatchObject({ code: 'gate_changed', message: expect.stringContaining(file) });
    expect(await listGateChanges(shop.place, await shop.place.store.getTask(task.id))).toEqual([file]);
    const verdict = { verdict: 'pass' as const, summary: 'seen', findings: [] };
    const list = (one: typeof task) => listGateChanges(shop.place, one);
    await giveVerdict(shop.as(), shop.place.store, {
      id: task.id,
      verdict,
      force: false,
      listGateChanges: list,
      findSpentAudits: async () => undefined,
    });
    await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'sly', merge: true });
    expect(await shop.place.store.getTask(task.id)).toMatchObject({ state: 'done' });
  });

  it('is not one that only has what the target got meanwhile, or changes other files', async () => {
    shop.addAgent('honest', 'echo x > x; echo more >> lib.sh; git -C . status > /dev/null');
    const task = await shop.create('Honest', { steps: ['bash ci.sh'] });
    await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'honest', merge: true });
    expect(await shop.place.store.getTask(task.id)).toMatchObject({ state: 'done' });
  });
});
