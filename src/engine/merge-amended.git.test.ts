import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shareOf } from '../../tests/support/share-of.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

/** A user who does this at once when main has moved. */
function whenLanded(command: string): void {
  const path = join(shop.repo.path, '.git/hooks/reference-transaction');
  const done = join(shop.repo.path, '..', 'done');
  const isMeant = `[ "$1" = committed ] && grep -q ' refs/heads/main$' && ! [ -e '${done}' ]`;
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(
    path,
    `#!/bin/sh\nif ${isMeant}; then touch '${done}'; ${command}; fi >/dev/null 2>&1; true\n`,
  );
  chmodSync(path, 0o755);
}

async function mergeOne(): Promise<string> {
  shop.addAgent('w1', 'echo hello > hello.txt');
  const task = await shop.create('Say hello', { steps: ['true'] });
  expect((await shop.work(task, 'w1')).state).toBe('review');
  return (await shop.move(task, 'merging')).state;
}

describe.each(shareOf(['merge', 'squash', 'rebase'] as const, 2))(
  '[B13] a user who amends what a %s has just landed',
  (strategy) => {
    beforeEach(() => shop.set({ merge: { strategy } }));

    it.each(
      shareOf(
        [
          ['with another message', "git commit --amend -m 'said otherwise'"],
          ['with another file', 'echo mine > mine.txt; git add mine.txt; git commit --amend --no-edit'],
        ],
        2,
      ),
    )('%s has it merged', async (_name, command) => {
      whenLanded(command);
      expect(await mergeOne()).toBe('done');
      expect(shop.repo.git('ls-tree', '--name-only', 'main')).toContain('hello.txt');
    });

    it('has it not merged where it was taken back', async () => {
      whenLanded('git reset --hard HEAD~1');
      expect(await mergeOne()).toBe('merge_failed');
      expect(shop.repo.git('ls-tree', '--name-only', 'main')).not.toContain('hello.txt');
    });
  },
);
