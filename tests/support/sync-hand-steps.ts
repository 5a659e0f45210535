import { toIso } from '#kernel/clock.ts';
import type { Json } from '#kernel/json.ts';
import type { Random } from './random.ts';
import type { SyncClone } from './sync-clone.ts';

type Line = Record<string, Json>;

/** What an edit by hand asks for, so that it can be looked for afterwards. */
export interface HandEdit {
  readonly told: string;
  /** The line as it was, and as it is now. */
  readonly before?: string;
  readonly after?: string;
  readonly added?: string;
  readonly removed?: string;
}

/** What somebody does to the task file with an editor. Undefined where there is nothing to do it to. */
export type HandStep = (clone: SyncClone, random: Random) => HandEdit | undefined;

export const HAND_STEPS = {
  'edit by hand': (clone, random) =>
    changeLine(clone, random, (line) => {
      random.pick(CHANGES)(line, random);
      // Whoever knows the format sets the time as well; most do not.
      const times = [line.created_at, line.updated_at].filter((time) => typeof time === 'string');
      const known = Math.max(clone.now, ...times.map((time) => Date.parse(time)));
      if (random.oneIn(3)) line.updated_at = toIso(known + random.below(5) * HOUR_MS);
    }),
  'remove a label by hand': (clone, random) =>
    changeLine(clone, random, (line) => {
      line.labels = ((line.labels as string[] | undefined) ?? []).slice(1);
    }),
  'remove a line by hand': (clone, random) => {
    const lines = readLines(clone);
    const tasks = lines.filter(isTask);
    if (tasks.length === 0) return undefined;
    const gone = random.pick(tasks);
    writeLines(
      clone,
      lines.filter((line) => line !== gone),
    );
    return { told: gone.slice(0, 16) };
  },
  'write a line by hand': (clone, random) => {
    const id = `fg-${random.pick(IDS)}`;
    const at = toIso(clone.now);
    const created_by = `${clone.name}-tool-${random.below(1_000_000)}`;
    const more = random.oneIn(2) ? { updated_at: toIso(clone.now + 60_000), sprint: random.below(9) } : {};
    const line = { id, title: `Line ${random.below(100)}`, status: 'open', created_at: at, created_by };
    writeLines(clone, [...readLines(clone), JSON.stringify({ ...line, ...more })]);
    return { told: id };
  },
  'write an unreadable line': (clone, random) => {
    const added = random.pick([
      `not a task ${random.below(1_000_000)}`,
      `{"id":"fg-oops","title":"No end ${random.below(1_000_000)}`,
      // Not the id of a task, of which it would be an edit.
      `{"id":"fg-${random.pick(IDS)}x","title":"No status ${random.below(1_000_000)}"}`,
    ]);
    writeLines(clone, [...readLines(clone), added]);
    return { told: added, added };
  },
  'remove an unreadable line': (clone, random) => {
    const lines = readLines(clone);
    const unreadable = lines.filter((line) => !isTask(line) && !/^[<=>]{7}/.test(line));
    if (unreadable.length === 0) return undefined;
    const removed = random.pick(unreadable);
    writeLines(
      clone,
      lines.filter((line) => line !== removed),
    );
    return { told: removed, removed };
  },
} satisfies Record<string, HandStep>;

const HOUR_MS = 3_600_000;

/** The same few in all clones, so that two of them are born with one id. */
export const IDS = ['aaaa', 'bbbb', 'cccc'] as const;

const CHANGES: readonly ((line: Line, random: Random) => void)[] = [
  (line, random) => void (line.title = `By hand ${random.below(1_000)}`),
  (line, random) => void (line.description = `By hand ${random.below(1_000)}`),
  (line, random) => void (line.priority = random.below(5)),
  (line, random) => void (line.sprint = random.below(100)),
  (line, random) => void (line['x-team'] = { name: random.below(100) }),
  (line) => void delete line.sprint,
  (line, random) =>
    void (line.labels = [...((line.labels as string[] | undefined) ?? []), `h${random.below(9)}`]),
  (line, random) =>
    void (line.metadata = { ...(line.metadata as Line | undefined), hand: random.below(100) }),
];

function changeLine(
  clone: SyncClone,
  random: Random,
  change: (line: Line) => void,
): Required<Pick<HandEdit, 'told' | 'before' | 'after'>> | undefined {
  const lines = readLines(clone);
  const tasks = lines.filter((line) => isTask(line) && !line.includes('"deleted_at":"'));
  if (tasks.length === 0) return undefined;
  const before = random.pick(tasks);
  const line = toLine(before);
  change(line);
  const after = JSON.stringify(line);
  if (after === before) return undefined;
  writeLines(
    clone,
    lines.map((one) => (one === before ? after : one)),
  );
  return { told: after, before, after };
}

export function readLines(clone: SyncClone): string[] {
  return (clone.readWorkingTree().tasks ?? '').split('\n').filter((line) => line !== '');
}

export function writeLines(clone: SyncClone, lines: readonly string[]): void {
  clone.writeWorkingTree({
    ...clone.readWorkingTree(),
    tasks: lines.map((line) => `${line}\n`).join(''),
  });
  clone.isByHand = true;
}

function isTask(line: string): boolean {
  try {
    const json = toLine(line);
    return typeof json.id === 'string' && typeof json.status === 'string';
  } catch {
    return false;
  }
}

function toLine(text: string): Line {
  return JSON.parse(text) as Line;
}
