import { afterEach, describe, expect, it, vi } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { measureGrowth } from '../../../tests/support/measure-growth.ts';
import { issue, line, readIssues, type Line } from '../../../tests/support/tracker-tasks.ts';
import { toTextFold } from '../fold-request.ts';
import { beadsTask } from './beads-task.ts';
import { fitTask } from './fit-task.ts';
import { linkTasks } from './link-tasks.ts';
import { findClosing, type OrderedEdge } from './order-edges.ts';
import type { TrackerTask } from './tracker-task.ts';

const quiet = (): void => undefined;
const many = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, `v${n}`.padEnd(100, '.')]));

/** Those that a line has in its metadata and in its comments, which break them at any place. */
function valuesIn({ metadata, comments = [] }: Line): Set<string> {
  const bodies = comments.map(({ body }) => body.replace(/^.*:\n\n/, ''));
  return new Set(`${JSON.stringify(metadata)}${bodies.join('')}`.match(/v\d+\.*/g));
}

afterEach(() => vi.restoreAllMocks());

describe('a task with more than metadata can hold', () => {
  const COUNT = 12_000;

  it.each([
    ['metadata keys', { metadata: many(COUNT) }],
    ['fields that are not known', many(COUNT)],
  ])('%s: JSON is made a few times of it, not once for each value', (_name, more) => {
    const task = beadsTask('bd-1', { id: 'bd-1', title: 'T', ...more }, quiet);
    const size = JSON.stringify(more).length;
    const real = JSON.stringify;
    let written = 0;
    vi.spyOn(JSON, 'stringify').mockImplementation((value: unknown) => {
      const text = real(value);
      written += text.length;
      return text;
    });
    fitTask('beads', task, quiet);
    expect(written).toBeLessThan(5 * size);
  });

  it('keeps every value, as many keys as a task may have, and notes the others', async () => {
    const metadata = many(COUNT);
    const read = await readIssues(issue({ id: 'bd-1', metadata }));
    const one = line(read, 'bd-1');
    expect(Object.keys(one.metadata).length).toBeLessThanOrEqual(LIMITS.metadata_keys);
    expect(Buffer.byteLength(JSON.stringify(one.metadata))).toBeLessThanOrEqual(LIMITS.metadata_bytes);
    expect(valuesIn(one)).toEqual(new Set(Object.values(metadata)));
    expect(read.notes.filter(({ field }) => field === 'metadata').map(({ what }) => what)).toEqual([
      `has more than ${LIMITS.metadata_keys} keys; the others are kept in metadata.beads.metadata`,
      `does not fit into ${LIMITS.metadata_bytes} bytes of metadata; it stands in a comment`,
    ]);
  });

  it('keeps every field that is not known, with a note each and few comments', async () => {
    const fields = many(2 * COUNT);
    const read = await readIssues(issue({ id: 'bd-1', ...fields }));
    const one = line(read, 'bd-1');
    expect(valuesIn(one)).toEqual(new Set(Object.values(fields)));
    expect(one.comments?.length).toBeLessThan(100);
    expect(read.notes.filter(({ what }) => what.includes('stands in a comment')).length).toBeGreaterThan(
      COUNT,
    );
  });
});

describe('many tasks of one id and title', () => {
  it('have names that do not grow', async () => {
    const twin = (n: number): string =>
      issue({ id: 'bd-1', title: 'T', created_at: new Date(1.7e12 + n * 1000).toISOString() });
    const read = await readIssues(...Array.from({ length: 500 }, (_, n) => twin(n)));
    const names = [...read.ids.keys()];
    expect(names).toHaveLength(500);
    expect(names.slice(0, 4)).toEqual(['bd-1', 'bd-1 (T)', 'bd-1 (T) 2', 'bd-1 (T) 3']);
    expect(names.at(-1)).toBe('bd-1 (T) 499');
  });

  it('have names of their own also where another is called so', async () => {
    const at = (day: number): string => `2026-01-0${day}T00:00:00Z`;
    const read = await readIssues(
      issue({ id: 'bd-1 (T) 2', title: 'Other' }),
      ...[1, 2, 3, 4].map((day) => issue({ id: 'bd-1', title: 'T', created_at: at(day) })),
    );
    expect([...read.ids.keys()]).toEqual(['bd-1 (T) 2', 'bd-1', 'bd-1 (T)', 'bd-1 (T) 3', 'bd-1 (T) 4']);
  });
});

describe('tasks that all wait for all', () => {
  const allToAll = (count: number): OrderedEdge[] =>
    Array.from({ length: count * count }, (_, n) => ({
      from: `t${Math.floor(n / count)}`,
      to: `t${n % count}`,
    })).filter(({ from, to }) => from !== to);

  it('are ordered within steps that their number gives', () => {
    const edges = allToAll(200);
    const { closing, steps } = findClosing(edges);
    // The first has all it waits for, the last nothing.
    expect(closing.size).toBe(edges.length / 2);
    expect(new Set(closing.values())).toEqual(new Set(['closes']));
    expect(steps).toBeLessThan(100 * edges.length);
  });

  it('are written in bulk, by their size: edge by edge the store counts the blockers of the task anew', () => {
    const lines = Array.from({ length: 300 }, (_, at) => ({ text: 'x'.repeat(50_000), number: at + 1 }));
    const { expected } = toTextFold('import:x', lines, { digest: '1', now: 1 });
    expect(expected).toBeGreaterThan(LIMITS.fold_events);
  });

  it('leave the rest to the order when the steps are spent: no cycle, and each says that it was not tried', () => {
    const edges = allToAll(60).toReversed();
    const most = 2_000;
    const { closing, steps } = findClosing(edges, most);
    // The last search is finished.
    expect(steps).toBeLessThan(most + 2 * edges.length);
    expect(new Set(closing.values())).toEqual(new Set(['closes', 'may_close']));
    const rest = edges.filter((edge) => !closing.has(edge));
    expect(findClosing(rest).closing.size).toBe(0);
  });
});

describe('a long chain of parents', () => {
  const chain = (count: number): TrackerTask[] =>
    Array.from({ length: count }, (_, n) =>
      beadsTask(
        `bd-${n}`,
        {
          id: `bd-${n}`,
          created_at: new Date(1.7e12 + n * 1000).toISOString(),
          dependencies: [{ depends_on_id: `bd-${n - 1}`, type: 'parent-child' }],
        },
        quiet,
      ),
    );

  it('takes twice as long for twice the tasks', () => {
    const tasks = chain(16_000);
    const text = { before: '', repeated: '.', after: '' };
    const work = ({ length }: string): unknown => linkTasks(tasks.slice(0, length), quiet);
    expect(measureGrowth((one) => void work(one), text, 2_000)).toBeUndefined();
  });

  it('has none that is below itself', () => {
    const tasks = chain(100);
    const [first] = tasks;
    const again = beadsTask(
      'bd-0',
      { id: 'bd-0', created_at: '2026-01-01T00:00:00Z', parent: 'bd-99' },
      quiet,
    );
    const notes: string[] = [];
    const linked = linkTasks([again, ...tasks.slice(1)], ({ what }) => notes.push(what));
    expect(first?.id).toBe('bd-0');
    expect(linked[0]?.parent).toBeUndefined();
    expect(notes).toEqual(['"bd-99" became related: it is below the task already']);
  });
});
