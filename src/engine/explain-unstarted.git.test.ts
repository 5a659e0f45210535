import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ForgeError } from '#kernel/errors.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { claimTask } from './change-task.ts';
import { explainUnstarted } from './explain-unstarted.ts';
import { toHold } from './work.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

describe('a task whose agent could not be started', () => {
  it.each([
    ['no disk space is left', new ForgeError('disk_full', 'full'), 'todo', 'disk_full'],
    [
      '[O10e] a process that was stopped still has the folder',
      new ForgeError('state_invalid', 'at work', { details: { busy: 'folder' } }),
      'todo',
      'folder_busy',
    ],
    ['the folder cannot be made', new ForgeError('io_failed', 'no'), 'blocked', 'workspace'],
  ])('because %s goes where it can go on', async (_, error, to, code) => {
    const { id } = await shop.create('Unstarted');
    await claimTask(shop.as(), { id, assignee: 'ext', force: false });
    const standing = await shop.place.store.readStanding(id);
    const { task } = standing;
    const assignment = { task, state: task.state, role: 'coder', agent: 'ext', hold: toHold(standing) };
    const explain = () => explainUnstarted(shop.place, shop.as(), assignment, error);
    expect(await explain()).toMatchObject({ outcome: 'cascaded', to, annotation: { code } });
    // A task that is deleted meanwhile goes nowhere.
    await shop.place.store.deleteTask({ id }, shop.as().by);
    expect(await explain()).toMatchObject({ outcome: 'failed' });
  });
});
