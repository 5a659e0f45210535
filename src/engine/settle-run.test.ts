import { describe, expect, it } from 'vitest';
import { ForgeError } from '#kernel/errors.ts';
import { ANN, tempEngine } from '../../tests/support/temp-engine.ts';
import { moveOrBlock } from './settle-run.ts';

describe('a move that cannot be made', () => {
  it.each<[string, Error, string]>([
    ['a fault of the program', new Error('a bug'), 'review'],
    ['a task that belongs to another', new ForgeError('fence_conflict', 'not yours'), 'review'],
    ['the blocked state itself', new ForgeError('guard_rejected', 'no'), 'blocked'],
  ])('is told, and not tried in another way: %s', async (_, error, to) => {
    await using temp = await tempEngine();
    const { id } = await temp.create('Moved');
    let tries = 0;
    const engine = temp.as(ANN);
    const readStanding = async (): Promise<never> => {
      tries += 1;
      throw error;
    };
    const store = { ...engine.store, readStanding };
    await expect(moveOrBlock({ ...engine, store }, id, { to, reason: 'done' })).rejects.toBe(error);
    expect(tries).toBe(1);
  });

  it('brings the task where a person sees it', async () => {
    await using temp = await tempEngine();
    const { id } = await temp.create('Moved');
    const moved = await moveOrBlock(temp.as(ANN), id, { to: 'merging', reason: 'done' });
    expect(moved).toMatchObject({ state: 'blocked', error_annotation: { code: 'state_invalid' } });
  });
});
