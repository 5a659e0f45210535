import { describe, expect, it, vi } from 'vitest';
import { expectNoneOutlives, OTHER_UID, startWatcher, whyNotAs } from './lost-watcher-behaviour.ts';
import { KINDS, listRunning, newSleep } from './run-behaviour.ts';

const USERS = [
  { who: 'this user', uid: undefined },
  { who: 'another user', uid: process.getuid?.() === OTHER_UID ? undefined : OTHER_UID },
] as const;

describe.skipIf(process.platform !== 'linux').each(KINDS)(
  '[A11] a watcher that is killed, with a %s',
  (kind) => {
    it.for(USERS)('takes every hostile program with it within 2 s, as $who', async ({ uid }, context) => {
      await expectNoneOutlives({ kind, uid }, context);
    });

    it.for([0, 2, 5, 10, 15, 20])('leaves nothing when it dies %d ms after a start', async (ms, context) => {
      await expectNothingStarted({ kind, then: `start(); setTimeout(die, ${ms});` }, context);
    });

    it.for(USERS)(
      'leaves nothing when it dies right after it let a program go, as $who',
      async ({ uid }, context) => {
        await expectNothingStarted({ kind, uid, then: 'await start(); die();' }, context);
      },
    );
  },
);

async function expectNothingStarted(
  watcher: Pick<Parameters<typeof startWatcher>[0], 'kind' | 'uid' | 'then'>,
  context: { skip(note?: string): void },
): Promise<void> {
  const why = whyNotAs(watcher.uid);
  if (why !== undefined) return context.skip(why);
  const sleep = newSleep();
  // The word stands among the arguments of everything that is between the watcher and the program, too.
  const commands = Array.from({ length: 4 }, () => ['/bin/sleep', sleep]);
  const { child, ended, kind } = await startWatcher({ ...watcher, commands });
  if (kind !== watcher.kind) return context.skip(`no ${watcher.kind} here`);
  child.stdin.write('go\n');
  await ended;
  expect(child.signalCode).toBe('SIGKILL');
  await vi.waitUntil(() => listRunning(sleep).length === 0, { timeout: 2_000, interval: 20 }).catch(() => {});
  expect(listRunning(sleep)).toEqual([]);
}
