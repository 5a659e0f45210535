import { joinRecords } from '#domain/join-records.ts';
import { isDeleted, lastStamp, type TaskRecord } from '#domain/task-record.ts';
import type { Law } from './join-laws.ts';
import { FORGE, type World } from './join-world.ts';
import { emptyRecord } from './old-deletion.ts';
import {
  absentWins,
  earlierWriteStands,
  forgetRemovals,
  ignoreFloor,
  joinFields,
  joinTombstones,
  keepFloors,
  keepStamps,
  lastOf,
  lastWritten,
  later,
  mergeLifeByField,
  newerUnknownKeys,
  renameBare,
  renameLater,
  renameTo,
  throughPlainObjects,
  truncateStamps,
  withJoin,
  withJoinedMaps,
  withLife,
  withMaps,
  withNames,
} from './wrong-joins.ts';

/** A rule that somebody could have written instead, and the law that it breaks. */
export interface Mutant {
  readonly name: string;
  readonly breaks: Law;
  readonly world: World;
}

/** A to F are the rules that the design's first draft and its repairs had, in that order. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'A: truncated stamps, removed elements without a trace, a release ranked by its last write',
    breaks: 'inflation',
    world: {
      ...withJoin(withLife(earlierWriteStands)),
      encode: (record) => FORGE.encode(forgetRemovals(truncateStamps(record))),
    },
  },
  {
    name: 'B: truncated stamps, a release ranked by its last write',
    breaks: 'inflation',
    world: {
      ...withJoin(withLife(earlierWriteStands)),
      encode: (record) => FORGE.encode(truncateStamps(record)),
    },
  },
  {
    name: 'C: a release ranked by its last write',
    breaks: 'inflation',
    world: withJoin(withLife(earlierWriteStands)),
  },
  {
    name: 'D: status, owner and closing merged field by field',
    breaks: 'legal',
    world: withJoin(withLife(mergeLifeByField)),
  },
  {
    name: 'E: the owner by last write, apart from the rest of the life',
    breaks: 'legal',
    world: withJoin(
      withLife((a, b) => ({ ...later(a, b), assignee: a.written >= b.written ? a.assignee : b.assignee })),
    ),
  },
  {
    name: 'F: a tombstone without content that a later edit revives',
    breaks: 'associative',
    world: withJoin(joinTombstones),
  },
  {
    name: 'the first argument wins a tie',
    breaks: 'commutative',
    world: withJoin((a, b) => ({ ...joinRecords(a, b), fields: joinFields(a.fields, b.fields) })),
  },
  {
    name: 'the spelling of created_at comes from the first argument',
    breaks: 'commutative',
    world: withJoin((a, b) => ({ ...joinRecords(a, b), created_at: a.created_at })),
  },
  {
    name: 'the floor of a map is ignored',
    breaks: 'nothing lost',
    world: withJoin(withMaps(ignoreFloor)),
  },
  {
    name: 'a map is one value and the later one stands whole',
    breaks: 'nothing lost',
    world: withJoin(withMaps((a, b) => (lastOf(a) >= lastOf(b) ? a : b))),
  },
  {
    name: 'at one stamp an absent element beats one that is there',
    breaks: 'nothing lost',
    world: withJoin(withMaps(absentWins)),
  },
  {
    name: 'comments: the last one read wins',
    breaks: 'commutative',
    world: withJoin((a, b) => ({ ...joinRecords(a, b), comments: new Map([...a.comments, ...b.comments]) })),
  },
  {
    name: 'comments: the longer list stands',
    breaks: 'nothing lost',
    world: withJoin((a, b) => ({
      ...joinRecords(a, b),
      comments: a.comments.size >= b.comments.size ? a.comments : b.comments,
    })),
  },
  {
    name: 'unknown keys come from the newer line alone',
    breaks: 'nothing lost',
    world: withJoin(newerUnknownKeys),
  },
  {
    name: 'what lost a merge is forgotten in the next one',
    breaks: 'nothing lost',
    world: withJoin((a, b) => ({ ...joinRecords(a, b), conflicts: a.conflicts })),
  },
  {
    name: 'maps keyed by user text have a prototype',
    breaks: 'nothing lost',
    world: withJoin((a, b) => throughPlainObjects(joinRecords(a, b))),
  },
  {
    name: 'the later of two claims stands',
    breaks: 'nothing lost',
    world: withJoin(
      withLife((a, b) => {
        const claims = a.n === b.n && a.n > 0 && a.status !== 'closed' && b.status !== 'closed';
        if (claims && a.began !== b.began) return a.began > b.began ? a : b;
        return later(a, b);
      }),
    ),
  },
  {
    name: 'a close has no precedence',
    breaks: 'nothing lost',
    world: withJoin(
      withLife((a, b) => (a.n === b.n && a.written !== b.written ? lastWritten(a, b) : later(a, b))),
    ),
  },
  {
    name: 'a deletion leaves the floors where they are',
    breaks: 'inflation',
    world: { ...FORGE, settle: keepFloors },
  },
  {
    name: 'a deletion empties the task',
    breaks: 'narrow',
    world: {
      ...FORGE,
      settle: (before, after) =>
        isDeleted(after) && !isDeleted(before) ? emptyRecord(before, lastStamp(before) + 1) : after,
    },
  },
  {
    name: 'a restore writes all that it knows',
    breaks: 'narrow',
    world: {
      ...FORGE,
      settle: (before, after) => (isDeleted(before) && !isDeleted(after) ? writeAnew(after) : after),
    },
  },
  {
    name: 'an edit takes the stamp of what it overwrites',
    breaks: 'inflation',
    world: { ...FORGE, settle: keepStamps },
  },
  {
    name: 'a release counts as never claimed',
    breaks: 'inflation',
    world: {
      ...FORGE,
      settle: (before, after) =>
        before.life.status === 'in_progress' && after.life.status === 'open'
          ? { ...after, life: { ...after.life, n: 0, began: 0 } }
          : after,
    },
  },
  {
    name: 'a merge is a write of its own',
    breaks: 'idempotent',
    world: withJoin(
      withLife((a, b) => {
        const stands = later(a, b);
        return { ...stands, written: stands.written + 1 };
      }),
    ),
  },
  {
    name: 'a merge with something older counts as news',
    breaks: 'absorbing',
    world: withJoin(
      withJoinedMaps(({ floor, elements }, a, b) => ({
        floor: lastOf(a) === lastOf(b) ? floor : floor + 1,
        elements,
      })),
    ),
  },
  {
    name: 'a key named __proto__ is lost on reading',
    breaks: 'round trip',
    world: {
      ...FORGE,
      decode: (line) => {
        const record = FORGE.decode(line);
        return { ...record, fields: new Map([...record.fields].filter(([name]) => name !== '__proto__')) };
      },
    },
  },
  {
    name: 'a collision renames only the later task',
    breaks: 'unique',
    world: withNames((a, b, shared) => [renameLater(a, b, shared), renameLater(b, a, shared)]),
  },
  {
    name: 'a collision takes a number that is free here',
    breaks: 'commutative',
    world: withNames((a, b, shared) => [a, renameTo(b, shared, (birth) => `${birth}-2`)]),
  },
  {
    name: 'a collision does not reach the references',
    breaks: 'nothing lost',
    world: withNames((a, b, shared) => [renameBare(a, shared), renameBare(b, shared)]),
  },
  {
    name: 'two tasks with one id are taken for one',
    breaks: 'nothing lost',
    world: withNames((a, b) => [a, b]),
  },
];

function writeAnew(record: TaskRecord): TaskRecord {
  const stamp = lastStamp(record) + 1;
  return {
    ...record,
    fields: new Map([...record.fields].map(([name, { value }]) => [name, { value, stamp }])),
  };
}
