import type { Json, JsonObject } from '#kernel/json.ts';
import { emptyObject } from '#kernel/json.ts';
import { BEADS_COMMENT_FIELDS, BEADS_DEPENDENCY_FIELDS, BEADS_FIELDS } from './field-tables.ts';
import {
  UNKNOWN_TIME,
  type AddNote,
  type TrackerComment,
  type TrackerLink,
  type TrackerTask,
} from './tracker-task.ts';
import { joinSections } from './tracker-text.ts';
import { latest, readTime } from './tracker-time.ts';
import { keep, readLife, readMetadata, readTimeOf, readTypeWord, type Reading } from './reading.ts';
import { isEmpty, isObject, takeFields, toList, type TakenFields } from './take-fields.ts';

const PLACE = 'metadata.beads';
type Fields = TakenFields<typeof BEADS_FIELDS>;

/** An issue of beads, of any version, in our words. */
export function beadsTask(id: string, issue: JsonObject, note: AddNote): TrackerTask {
  const deleted = issue.status === 'tombstone' || readTime(issue.deleted_at) !== undefined;
  if (deleted)
    note({ where: id, field: 'status', what: 'was deleted in beads; it comes as a deleted, empty task' });
  // Of a deleted task nothing is kept, so nothing may be said to be.
  const reading: Reading = {
    where: id,
    place: PLACE,
    kept: new Map(),
    note: deleted ? () => undefined : note,
  };
  const fields = takeFields(Object.entries(issue), BEADS_FIELDS, reading);
  fields.take('id');
  fields.take('_type');
  const links = deleted ? [] : readLinks(fields, reading);
  const created_at = readTimeOf(fields.take('created_at'), 'created_at', reading);
  const status = fields.text('status');
  const deletion = deleted ? readDeletion(fields, created_at) : undefined;
  const life = readLife(status === 'tombstone' ? '' : status, reading);
  // What is said about a closing that is not, as after a reopening, is left to the rest.
  const isClosed = life.status === 'closed';
  const closed = isClosed ? readTimeOf(fields.take('closed_at'), 'closed_at', reading) : undefined;
  const { type, label } = readTypeWord(fields.text('issue_type'), 'issue_type', reading);
  const task: TrackerTask = {
    id,
    key: id,
    twin: String(created_at ?? ''),
    title: fields.text('title'),
    description: joinSections([
      ['', fields.text('description')],
      ['Design', fields.text('design')],
      ['Acceptance criteria', fields.text('acceptance_criteria')],
      ['Notes', fields.text('notes')],
    ]),
    status: life.status,
    state: life.state,
    close_reason: isClosed ? fields.text('close_reason') : '',
    priority: readNumber(fields.take('priority'), reading),
    type,
    assignee: fields.text('assignee'),
    labels: [...readLabels(fields.take('labels'), reading), ...(label === undefined ? [] : [label])],
    github_issue: readReference(fields.take('external_ref'), reading),
    created_by: fields.text('created_by'),
    created: created_at,
    updated: latest(
      readTimeOf(fields.take('updated_at'), 'updated_at', reading),
      ...links.map(({ at }) => at),
    ),
    closed,
    deleted: deletion?.at,
    links,
    comments: [...readComments(fields.take('comments'), reading), ...(deletion?.comments ?? [])],
    metadata: readMetadata(fields.take('metadata'), reading),
    kept: reading.kept,
  };
  for (const [name, value] of fields.rest()) reading.kept.set(name, value);
  return task;
}

/** A tombstone: the time, and what it says as a comment, because the content of a deleted task is empty. */
function readDeletion(
  fields: Fields,
  created: number | undefined,
): { at: number; comments: TrackerComment[] } {
  const at = readTime(fields.take('deleted_at')) ?? created ?? UNKNOWN_TIME;
  const said = (['deleted_by', 'delete_reason', 'original_type'] as const)
    .map((name) => [name, fields.text(name)] as const)
    .filter(([, text]) => text !== '');
  const body = ['Deleted in beads.', ...said.map(([name, text]) => `${name}: ${text}`)].join('\n');
  return { at, comments: [{ author: 'beads', body, at }] };
}

/** Which of our types an edge of theirs is; every other one is `related`. */
const EDGE_TYPES: ReadonlyMap<string, TrackerLink['type']> = new Map([
  ['blocks', 'blocks'],
  ['conditional-blocks', 'blocks'],
  ['waits-for', 'blocks'],
  ['parent-child', 'parent'],
  ['related', 'related'],
  ['relates-to', 'related'],
  ['discovered-from', 'discovered-from'],
]);
const OUR_WORDS = ['blocks', 'parent-child', 'related', 'relates-to', 'discovered-from'];

function readLinks(fields: Fields, reading: Reading): TrackerLink[] {
  const links: TrackerLink[] = [];
  const edges: Json[] = [];
  for (const entry of toList(fields.take('dependencies'))) {
    if (!isObject(entry)) {
      edges.push(entry);
      reading.note({
        where: reading.where,
        field: 'dependencies',
        what: 'an entry cannot be read; kept in metadata',
      });
      continue;
    }
    const edge = takeFields(Object.entries(entry), BEADS_DEPENDENCY_FIELDS, {
      ...reading,
      place: `${PLACE}.dependencies`,
      note: () => undefined, // the whole edge is kept below
    });
    edge.take('issue_id');
    const written = edge.text('depends_on_id');
    const word = edge.text('type') || 'blocks';
    const type = EDGE_TYPES.get(word) ?? 'related';
    const at = readTime(entry.created_at);
    if (written !== '') links.push({ type, key: written, written, at });
    if (!OUR_WORDS.includes(word)) {
      reading.note({ where: reading.where, field: 'dependencies', what: `"${word}" became ${type}` });
    }
    edges.push(toObject([['depends_on_id', written], ['type', word], ...edge.rest()]));
  }
  if (edges.length > 0) reading.kept.set('dependencies', edges);
  const parent = fields.text('parent');
  if (parent !== '' && !links.some(({ type }) => type === 'parent')) {
    links.push({ type: 'parent', key: parent, written: parent, at: undefined });
  }
  return [...links, ...readOldLinks(fields, reading)];
}

/** Before edges had types of their own, these were fields. */
function readOldLinks(fields: Fields, reading: Reading): TrackerLink[] {
  return (['replies_to', 'relates_to', 'duplicate_of', 'superseded_by'] as const).flatMap((name) => {
    const value = fields.take(name);
    if (isEmpty(value)) return [];
    keep(reading, name, value as Json, 'became related'); // not empty
    return toList(value)
      .filter((id) => typeof id === 'string')
      .map((id) => ({ type: 'related', key: id, written: id, at: undefined }) as const);
  });
}

function readComments(value: Json | undefined, reading: Reading): TrackerComment[] {
  const odd: Json[] = [];
  const comments = toList(value).flatMap((entry) => {
    if (!isObject(entry) || typeof entry.text !== 'string') {
      odd.push(entry);
      return [];
    }
    const comment = takeFields(Object.entries(entry), BEADS_COMMENT_FIELDS, reading);
    comment.take('id');
    comment.take('issue_id');
    const read = {
      author: comment.text('author'),
      body: comment.text('text'),
      at: readTime(comment.take('created_at')),
    };
    const rest = comment.rest();
    if (rest.size > 0) odd.push(toObject([['text', read.body], ...rest]));
    return [read];
  });
  if (odd.length > 0) keep(reading, 'comments', odd, 'holds more than a comment has here');
  return comments;
}

function readNumber(value: Json | undefined, reading: Reading): number {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 4) return value as number;
  if (value !== undefined) keep(reading, 'priority', value, 'is not 0 to 4; it became 2');
  return 2;
}

function readLabels(value: Json | undefined, reading: Reading): string[] {
  const list = toList(value);
  const odd = list.filter((label) => typeof label !== 'string');
  if (odd.length > 0) keep(reading, 'labels', odd, 'holds something that is not a text');
  return list.filter((label) => typeof label === 'string');
}

const GITHUB =
  /^(?:gh-|github-|#)(\d{1,15})$|^https:\/\/github\.com\/[^/]+\/[^/]+\/(?:issues|pull)\/(\d{1,15})\b/i;

function readReference(value: Json | undefined, reading: Reading): number | null {
  if (isEmpty(value)) return null;
  const [, short, long] = (typeof value === 'string' ? GITHUB.exec(value) : null) ?? [];
  const number = Number(short ?? long ?? 0);
  if (short === undefined || number === 0)
    keep(reading, 'external_ref', value as Json, 'has no field of its own'); // not empty
  return number === 0 ? null : number;
}

/** Keys such as `__proto__` stay plain data. */
function toObject(entries: Iterable<readonly [string, Json]>): JsonObject {
  const object = emptyObject<Json>();
  for (const [key, value] of entries) object[key] = value;
  return object;
}
