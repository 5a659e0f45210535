import { describe, expect, it } from 'vitest';
import type { Json } from '#kernel/json.ts';
import { plainRecord } from '../../tests/support/plain-record.ts';
import { decodeRecord, encodeRecord } from './record-codec.ts';
import { digestRecord } from './record-digests.ts';
import { isTakenBack, TakenBackSearch, type PutBackLine } from './taken-back.ts';

const WRITTEN = encodeRecord(plainRecord('one'));
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
    const line = { text, seal: SEAL, last: digestsOf(last) };
    expect(isTakenBack(log, line)).toBe(taken);
    expect(searchIn(log, line).found).toEqual(taken ? [line] : []);
  });

  it('is looked for until a commit tells', () => {
    const line = { text: WRITTEN, seal: SEAL, last: digestsOf(TWO) };
    expect(searchIn([[`-${WRITTEN}`, `+${THREE}`]], line).left).toEqual([line]);
    expect(searchIn([[`-${TWO}`, `+${WRITTEN}`]], line).left).toEqual([]);
    expect(searchIn([[`+${TWO}`]], line).left).toEqual([]);
  });

  it('is as the commit left it, where Forge wrote it anew since', () => {
    const line = { text: WRITTEN, seal: SEAL, last: digestsOf(TWO), overwritten: true } as const;
    expect(searchIn([[`-${TWO}`, `+${THREE}`]], line).found).toEqual([{ ...line, text: THREE }]);
  });

  it('is not looked for where only the file makes it another one', () => {
    const line = { text: WRITTEN, seal: SEAL, last: digestsOf(TWO), guessed: 'edit' } as const;
    expect(searchIn([[`-${TWO}`, `+${WRITTEN}`]], line)).toMatchObject({ left: [], found: [] });
  });

  it.each([
    ['the edit was taken in, and a look came after the commit', true, true, false],
    ['no look came after the commit', true, false, true],
    ['the edit was not taken in', undefined, true, true],
  ] as const)('is found in a commit or not: %s', (_name, known, isLooked, found) => {
    const search = new TakenBackSearch([{ text: WRITTEN, seal: SEAL, last: digestsOf(TWO), known }]);
    search.take([`-${TWO}`, `+${WRITTEN}`], isLooked);
    expect([search.found.length, search.left.length]).toEqual(found ? [1, 0] : [0, 1]);
  });
});

describe('a line without stamps in a commit', () => {
  const [bare, other] = [TWO, THREE].map((text) => text.replace(/,"_v":.*$/, '}')) as [string, string];
  const line = { text: bare, seal: 'fg-a3f8', last: '', stood: [] };

  it.each<[string, readonly (readonly string[])[], readonly string[] | undefined, number]>([
    [
      'back to one that Forge wrote',
      [
        [`-${other}`, `+${bare}`],
        [`-${WRITTEN}`, `+${other}`],
      ],
      [WRITTEN, other],
      0,
    ],
    [
      'no further than that',
      [
        [`-${WRITTEN}`, `+${bare}`],
        [`-${TWO}`, `+${WRITTEN}`],
      ],
      [WRITTEN],
      0,
    ],
    ['as far as commits tell', [[`-${other}`, `+${bare}`]], [other], 1],
    ['not in a commit of another line', [[`-${WRITTEN}`, `+${other}`]], undefined, 1],
    ['none where it is the first one', [[`+${bare}`]], undefined, 0],
    ['none of another task', [[`-${other.replace('fg-a3f8', 'fg-b4c9')}`, `+${bare}`]], undefined, 0],
  ])('has those in whose place it came: %s', (_name, log, stood, left) => {
    const search = searchIn(log, line);
    const found = search.found.map((one) => one.stood?.map(({ text }) => text));
    expect(found).toEqual(stood === undefined ? [] : [stood]);
    expect(search.left).toHaveLength(left);
  });
});

function searchIn(log: readonly (readonly string[])[], line: PutBackLine): TakenBackSearch {
  const search = new TakenBackSearch([line]);
  for (const changes of log) search.take(changes);
  return search;
}

function digestsOf(line: string): string {
  return digestRecord(decodeRecord(JSON.parse(line) as Json));
}
