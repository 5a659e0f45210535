import { describe } from 'vitest';
import { describeClaim } from './behaviour/claim-behaviour.ts';
import { describeClose } from './behaviour/close-behaviour.ts';
import { describeCreate } from './behaviour/create-behaviour.ts';
import { describeDependencies } from './behaviour/dependency-behaviour.ts';
import { describeEvents } from './behaviour/event-behaviour.ts';
import { describeForeign } from './behaviour/foreign-behaviour.ts';
import { describeLeases } from './behaviour/lease-behaviour.ts';
import { describeLife } from './behaviour/life-behaviour.ts';
import { describeLooks } from './behaviour/look-behaviour.ts';
import { describeMapStates } from './behaviour/map-behaviour.ts';
import type { OpenStore } from './behaviour/open-behaviour.ts';
import { describeReady } from './behaviour/ready-behaviour.ts';
import { describeReports } from './behaviour/report-behaviour.ts';
import { describeSearch } from './behaviour/search-behaviour.ts';
import { describeText } from './behaviour/text-behaviour.ts';
import { describeUpdate } from './behaviour/update-behaviour.ts';
import { describeKeptWorkflow } from './behaviour/workflow-behaviour.ts';

/**
 * What every TaskStore does, whatever it keeps its tasks in: no SQL here. An adapter's test calls this once;
 * `open` gives a new, empty store each time.
 */
export function describeStore(name: string, open: OpenStore): void {
  describe(`${name} task store`, () => {
    describeCreate(open);
    describeUpdate(open);
    describeLife(open);
    describeClaim(open);
    describeClose(open);
    describeDependencies(open);
    describeForeign(open);
    describeReady(open);
    describeSearch(open);
    describeReports(open);
    describeKeptWorkflow(open);
    describeLeases(open);
    describeLooks(open);
    describeMapStates(open);
    describeText(open);
    describeEvents(open);
  });
}
