import { describe, expect, it } from 'vitest';
import { issue, line, readIssues } from '../../../tests/support/tracker-tasks.ts';

describe('links that do not fit', () => {
  const blocked = (id: string, by: string, created_at: string): string =>
    issue({ id, dependencies: [{ issue_id: id, depends_on_id: by, type: 'blocks', created_at }] });

  it('makes related of the link that closed the cycle last', async () => {
    const read = await readIssues(
      blocked('bd-1', 'bd-2', '2026-01-03T00:00:00Z'),
      blocked('bd-2', 'bd-3', '2026-01-05T00:00:00Z'),
      blocked('bd-3', 'bd-1', '2026-01-04T00:00:00Z'),
      blocked('bd-4', 'bd-1', '2026-01-06T00:00:00Z'),
    );
    const types = ['bd-1', 'bd-2', 'bd-3', 'bd-4'].map(
      (id) => (line(read, id).dependencies as { type: string }[])[0]?.type,
    );
    expect(types).toEqual(['blocks', 'related', 'blocks', 'blocks']);
    expect(read.notes).toContainEqual({
      where: 'bd-2',
      field: 'dependencies',
      what: 'blocked by "bd-3" would close a cycle; it became related',
    });
  });

  it('keeps a link to the task itself in metadata', async () => {
    const read = await readIssues(blocked('bd-1', 'bd-1', '2026-01-03T00:00:00Z'));
    expect(line(read, 'bd-1')).toMatchObject({
      dependencies: [],
      metadata: { beads: { missing_links: ['blocks:bd-1'] } },
    });
  });

  it('makes a tree of parents', async () => {
    const child = (id: string, ...parents: string[]): string =>
      issue({ id, dependencies: parents.map((depends_on_id) => ({ depends_on_id, type: 'parent-child' })) });
    const read = await readIssues(
      child('bd-1', 'bd-2'),
      child('bd-2', 'bd-1'),
      child('bd-3', 'bd-1', 'bd-2'),
    );
    expect(line(read, 'bd-1').parent_id).toBe(read.ids.get('bd-2'));
    expect(line(read, 'bd-2')).toMatchObject({
      parent_id: null,
      dependencies: [{ id: read.ids.get('bd-1'), type: 'related' }],
    });
    expect(line(read, 'bd-3')).toMatchObject({
      parent_id: read.ids.get('bd-1'),
      dependencies: [{ id: read.ids.get('bd-2'), type: 'related' }],
    });
  });

  it('finds no cycle in a long chain', async () => {
    const chain = Array.from({ length: 3000 }, (_, n) =>
      blocked(`bd-${n}`, `bd-${n + 1}`, '2026-01-03T00:00:00Z'),
    );
    const read = await readIssues(...chain, issue({ id: 'bd-3000' }));
    expect(read.notes).toEqual([]);
    expect(read.records.filter(({ dependencies }) => dependencies.elements.size === 1)).toHaveLength(3000);
  });
});
