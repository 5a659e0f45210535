import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

describe('the branch to merge into', () => {
  it.each(['trunk', 'develop', 'release/2.x'])('[A14] may be called %s', async (name) => {
    shop.repo.git('branch', '-m', 'main', name);
    shop.addAgent('w1', 'echo hello > hello.txt');
    const task = await shop.create('Say hello', { steps: ['true'] });
    await shop.work(task, 'w1');
    expect((await shop.move(task, 'merging')).state).toBe('done');
    expect(shop.repo.git('show', `${name}:hello.txt`)).toBe('hello');
    expect(await shop.repo.read('hello.txt')).toBe('hello\n');
  });

  it('[A14] is asked for by name where several could be meant, with what to type', async () => {
    shop.repo.git('branch', '-m', 'main', 'trunk');
    shop.repo.git('branch', 'develop');
    shop.repo.git('checkout', '--quiet', '--detach');
    shop.addAgent('w1', 'echo hello > hello.txt');
    const task = await shop.create('Say hello', { steps: ['true'] });
    const blocked = await shop.work(task, 'w1');
    expect(blocked.state).toBe('blocked');
    expect(blocked.error_annotation?.message).toBe(
      'Nothing says which branch to begin with and to merge into: there are develop, trunk. ' +
        `Next: git -C '${shop.repo.path}' switch 'develop', or {"merge": {"target": "develop"}} in .forge/config.json`,
    );
    shop.set({ merge: { target: 'trunk' } });
    const other = await shop.create('Say hello again', { steps: ['true'] });
    expect((await shop.work(other, 'w1')).state).toBe('review');
  });
});
