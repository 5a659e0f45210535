import { describe, it } from 'vitest';
import { expectNoneOutlives, expectNothingStarted, WATCHER_USERS } from './lost-watcher-behaviour.ts';
import { KINDS } from './run-behaviour.ts';

/** Each of them has every hostile program at work: some two hundred runs a kind and user. */
const ROUNDS = Array.from({ length: 40 }, (_, round) => round);

describe.skipIf(process.platform !== 'linux').each(KINDS)(
  '[A11] watchers that are killed, with a %s',
  (kind) => {
    describe.each(WATCHER_USERS)('as $who', ({ uid }) => {
      it.for(ROUNDS)('take every hostile program with them, round %d', async (_, context) => {
        await expectNoneOutlives({ kind, uid }, context);
      });

      it.for(ROUNDS)('leave nothing of a start, round %d', async (round, context) => {
        const ms = (round * 0.7) % 25;
        const task = `start(); const until = performance.now() + ${ms}; setImmediate(function look() { if (performance.now() >= until) die(); setImmediate(look); });`;
        await expectNothingStarted({ kind, uid, task }, context);
      });
    });
  },
);
