import { describe, it } from 'vitest';
import {
  expectChainOutlives,
  expectNoneOutlives,
  expectNothingStarted,
  WATCHER_USERS,
} from './lost-watcher-behaviour.ts';
import { KINDS } from './run-behaviour.ts';
import { shareOf } from '../../tests/support/share-of.ts';

describe.skipIf(process.platform !== 'linux').each(KINDS)(
  '[A11] a watcher that is killed, with a %s',
  (kind) => {
    it.for(shareOf(WATCHER_USERS, 2))(
      'takes every hostile program with it within 2 s, as $who',
      async ({ uid }, context) => {
        await expectNoneOutlives({ kind, uid }, context);
      },
    );

    it.for(shareOf([0, 2, 5, 10, 15, 20], 3))(
      'leaves nothing when it dies %d ms after a start',
      async (ms, context) => {
        await expectNothingStarted({ kind, task: `start(); setTimeout(die, ${ms});` }, context);
      },
    );

    it.for(shareOf(WATCHER_USERS, 2))(
      'leaves nothing when it dies right after it let a program go, as $who',
      async ({ uid }, context) => {
        await expectNothingStarted({ kind, uid, task: 'await start(); die();' }, context);
      },
    );
  },
);

it.skipIf(process.platform !== 'linux')(
  '[A11] a chain of forks, sessions and empty environments outlives its watcher where a mark is all there is',
  async () => {
    await expectChainOutlives('marker');
  },
);
