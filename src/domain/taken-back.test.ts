import { describe, expect, it } from 'vitest';
import type { Json } from '#kernel/json.ts';
import { decodeRecord, encodeRecord } from './record-codec.ts';
import { digestRecord } from './record-digests.ts';
import { isTakenBack } from './taken-back.ts';
import { newRecord } from './task-changes.ts';

const WRITTEN = encodeRecord(
  newRecord(
    {
      id: 'fg-a3f8',
      created_by: 'ann',
      assignee: null,
      state: 'todo',
      fields: { title: 'one' },
      labels: [],
      dependencies: [],
      metadata: new Map(),
    },
    Date.UTC(2026, 1, 10, 9),
  ),
);
const [TWO, THREE] = ['two', 'three'].map((title) => WRITTEN.replace('"one"', `"${title}"`)) as [
  string,
  string,
];
const SEAL = /"_v":"([^"]+)"\}\}$/.exec(WRITTEN)?.[1] ?? '';

/** The line as it is now, as it was last, and the changes of commits since, newest first. */
const CASES: readonly (readonly [string, string, string, readonly (readonly string[])[], boolean])[] = [
  ['a commit changed it back', WRITTEN, TWO, [[`-${TWO}`, `+${WRITTEN}`]], true],
  [
    'by way of another edit',
    WRITTEN,
    TWO,
    [
      [`-${THREE}`, `+${WRITTEN}`],
      [`-${TWO}`, `+${THREE}`],
    ],
    true,
  ],
  ['no commit holds what it showed', WRITTEN, TWO, [[`+${WRITTEN}`]], false],
  ['a commit took another edit away', TWO, THREE, [[`-${WRITTEN}`, `+${TWO}`]], false],
  [
    'it is there again',
    TWO,
    THREE,
    [
      [`-${TWO}`, `+${THREE}`],
      [`-${THREE}`, `+${TWO}`],
    ],
    false,
  ],
  ['it only stands elsewhere in the file', WRITTEN, TWO, [[`-${TWO}`, `+${TWO}`]], false],
  [
    'what changed is no task',
    WRITTEN,
    TWO,
    [[`-{"title":"two","_v":"${SEAL}"}`, '+{', '@@ -1 +1 @@']],
    false,
  ],
  ['nothing was committed', WRITTEN, TWO, [], false],
];

describe('[D1] a line that shows again what it once showed', () => {
  it.each(CASES)('was changed back by a commit or not: %s', (_name, text, last, log, taken) => {
    const digests = digestRecord(decodeRecord(JSON.parse(last) as Json));
    expect(isTakenBack(log, { text, seal: SEAL, last: digests })).toBe(taken);
  });
});
