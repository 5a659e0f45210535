import { describe } from 'vitest';
import { describeChanged } from './behaviour/changed-behaviour.ts';
import { describeConflicts } from './behaviour/conflict-behaviour.ts';
import { describeFoldedFiles } from './behaviour/fold-file-behaviour.ts';
import { describeFolds } from './behaviour/fold-behaviour.ts';
import { describeFoldReports } from './behaviour/fold-report-behaviour.ts';
import { describeMissingLines } from './behaviour/missing-lines-behaviour.ts';
import type { OpenSync } from './behaviour/open-sync-behaviour.ts';

/** What every store does with what travels, whatever it keeps its rows in; see describeStore. */
export function describeSync(name: string, open: OpenSync): void {
  describe(`${name} store of what travels`, () => {
    describeFolds(open);
    describeFoldedFiles(open);
    describeFoldReports(open);
    describeConflicts(open);
    describeChanged(open);
    describeMissingLines(open);
  });
}
