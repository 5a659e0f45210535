import { describe } from 'vitest';
import { describeAttempts } from './behaviour/attempt-behaviour.ts';
import { describeDaemons } from './behaviour/daemon-behaviour.ts';
import { describeGates } from './behaviour/gate-behaviour.ts';
import { describeHolds } from './behaviour/hold-behaviour.ts';
import type { OpenWork } from './behaviour/open-work-behaviour.ts';
import { describeRuns } from './behaviour/run-behaviour.ts';
import { describeWaits } from './behaviour/wait-behaviour.ts';
import { describeWatches } from './behaviour/watch-behaviour.ts';

/** What every AttemptStore does, whatever it keeps its rows in; see describeStore. */
export function describeWork(name: string, open: OpenWork): void {
  describe(`${name} attempt store`, () => {
    describeAttempts(open);
    describeRuns(open);
    describeHolds(open);
    describeGates(open);
    describeWatches(open);
    describeWaits(open);
    describeDaemons(open);
  });
}
