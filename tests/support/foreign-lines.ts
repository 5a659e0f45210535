import { stampHandEdits } from '#domain/hand-edits.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { toIso } from '#kernel/clock.ts';
import { type Json, type JsonObject, emptyObject } from '#kernel/json.ts';
import type { World } from './join-world.ts';
import type { Random } from './random.ts';
import { FIELDS, PEOPLE, UNKNOWN, WORDS } from './record-steps.ts';

/** An object as another program holds a line: words like `__proto__` are plain keys of it. */
export type Line = Record<string, Json>;

export function lineOf(world: World, record: TaskRecord): Line {
  return Object.assign(emptyObject<Json>(), JSON.parse(world.encode(record)) as JsonObject);
}

/** A program that knows nothing of stamps writes the whole line again, and later. */
export function rewriteLine(world: World, record: TaskRecord, now: number, random: Random): TaskRecord {
  const line = lineOf(world, record);
  delete line._v;
  line.updated_at = toIso(now);
  if (random.oneIn(3)) line.created_at = spellOtherwise(record.created_at);
  editLine(line, random);
  const read = world.decode(line);
  return random.oneIn(2) ? world.joinRecords(record, read) : world.joinRecords(read, record);
}

/** Somebody opens the file in an editor, changes a value and leaves the stamps as they are. */
export function editByHand(world: World, record: TaskRecord, now: number, random: Random): TaskRecord {
  const line = lineOf(world, record);
  if (random.oneIn(4)) delete line._v;
  if (random.oneIn(2)) line.updated_at = toIso(now);
  editLine(line, random);
  const updated = random.oneIn(2) ? now : Date.parse(line.updated_at as string);
  return world.joinRecords(record, stampHandEdits(world.decode(line), record, updated));
}

function editLine(line: Line, random: Random): void {
  for (let edits = 1 + random.below(2); edits > 0; edits -= 1) {
    switch (random.below(7)) {
      case 0: {
        const name = random.pick(['title', 'description', 'priority']);
        line[name] = random.pick(FIELDS[name] ?? []);
        break;
      }
      case 1:
        line[random.pick(UNKNOWN)] = random.pick([null, 'x', 5, { b: 1, a: [] }]);
        break;
      case 2:
        line.labels = withOrWithout(line.labels as readonly string[], random.pick(WORDS));
        break;
      case 3:
        markEntries(line, 'comments', random.pick(['mood', '__proto__', '10']));
        break;
      case 4:
        markEntries(line, 'dependencies', random.pick(['note', '__proto__', '10']));
        break;
      case 5: {
        const metadata: Line = Object.assign(emptyObject<Json>(), line.metadata as JsonObject);
        metadata[random.pick(WORDS)] = random.pick(['by hand', { z: 1, a: 2 }, 0]);
        line.metadata = metadata;
        break;
      }
      default:
        writeStatus(line, random);
    }
  }
}

function writeStatus(line: Line, random: Random): void {
  const status = random.pick(['open', 'in_progress', 'closed'] as const);
  delete line.state;
  delete line.close_reason;
  line.status = status;
  line.closed_at = status === 'closed' && random.oneIn(2) ? (line.updated_at ?? null) : null;
  if (status === 'closed') line.close_reason = random.pick(['by hand', 'wontfix']);
  if (status === 'in_progress') line.assignee = random.pick(PEOPLE);
}

/** Keys of a comment or an edge that this version does not know. */
function markEntries(line: Line, list: 'comments' | 'dependencies', key: string): void {
  const entries = (line[list] ?? []) as readonly JsonObject[];
  if (entries.length === 0) return;
  line[list] = entries.map((entry) => Object.assign(emptyObject<Json>(), entry, mark(key)));
}

function mark(key: string): Record<string, Json> {
  const marked = emptyObject<Json>();
  marked[key] = { kept: true };
  return marked;
}

function withOrWithout(labels: readonly string[], label: string): string[] {
  return labels.includes(label) ? labels.filter((other) => other !== label) : [...labels, label];
}

/** One moment, as other programs write it. */
function spellOtherwise(iso: string): string {
  return iso.endsWith('.000Z') ? iso.replace('.000Z', 'Z') : iso.replace(/Z$/, '+00:00');
}
