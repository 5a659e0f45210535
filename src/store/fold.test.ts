import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { exportLines, exportMoves, fold, shareLines, toRequest } from '../../tests/support/fold-lines.ts';
import { memoryStore } from '../../tests/support/memory-store.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { describeExchange } from './behaviour/exchange-behaviour.ts';
import { describeFoldLockstep } from './behaviour/fold-lockstep-behaviour.ts';
import { by, claim, close, create, line } from './behaviour/open-behaviour.ts';
import { describeSync } from './sync-behaviour.ts';

describeSync('SQLite', () => tempStore());
describeSync('in memory', memoryStore);
describeExchange('SQLite and SQLite', tempStore, tempStore);
describeExchange('SQLite and memory', tempStore, memoryStore);
describeExchange('memory and memory', memoryStore, memoryStore);
describeFoldLockstep('SQLite and memory', { open: tempStore, openOther: memoryStore, seeds: 12 });

describe('a fold into SQLite', () => {
  it('as a dry run tells the same and changes nothing, not even the replica', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
    const { id } = await create(there, 'Known');
    await fold(here, await exportLines(there));
    await there.store.updateTask({ id, title: 'Renamed' }, by(there));
    await create(there, 'New');
    const lines = await exportLines(there);
    const before = { rows: tablesOf(here), replica: readFileSync(here.replica, 'utf8') };
    const told = await fold(here, [...lines, 'rubbish'], { dry_run: true });
    expect(told).toMatchObject({ created: 1, updated: 1, unreadable: [{ number: 3 }] });
    expect({ rows: tablesOf(here), replica: readFileSync(here.replica, 'utf8') }).toEqual(before);
    expect(await fold(here, [...lines, 'rubbish'])).toEqual(told);
  });

  it('as a dry run of tasks that share an id changes nothing either', async () => {
    await using here = await tempStore();
    await fold(here, [line('fg-same', { title: 'Ours', created_by: 'ann' })]);
    const before = { rows: tablesOf(here), replica: readFileSync(here.replica, 'utf8') };
    const told = await fold(here, [line('fg-same', { title: 'Theirs' })], { dry_run: true });
    expect(told.renamed).toHaveLength(1);
    expect({ rows: tablesOf(here), replica: readFileSync(here.replica, 'utf8') }).toEqual(before);
  });

  it('many at once: blockers are counted as one at a time would count them', async () => {
    const lines = manyLines(LIMITS.fold_events + 30).map((task, at) => ({
      ...task,
      ...(at % 3 === 0 && { status: 'closed', close_reason: 'done' }),
      ...(at >= 10 && {
        dependencies: [
          { id: idAt(at - 7), type: 'blocks' },
          { id: idAt(at - 1), type: at % 2 === 0 ? 'related' : 'blocks' },
        ],
      }),
      ...(at % 50 === 0 && { dependencies: [{ id: 'fg-nowhere', type: 'blocks' }] }),
    }));
    await using bulk = await tempStore();
    await fold(bulk, lines);
    const { miscounted, missing } = await bulk.store.diagnose(bulk.clock.now());
    expect(miscounted).toBe(0);
    expect(missing.length).toBeGreaterThan(0);
    await using single = await tempStore();
    for (let at = 0; at < lines.length; at += 200) await fold(single, lines.slice(at, at + 200));
    const counts = (temp: TempStore): unknown =>
      rowsOf(temp, 'SELECT id, open_blockers FROM tasks ORDER BY id');
    expect(counts(bulk)).toEqual(counts(single));
    expect(await exportLines(bulk)).toEqual(await exportLines(single));
    // The triggers are back.
    await close(bulk, idAt(1));
    expect((await bulk.store.diagnose(bulk.clock.now())).miscounted).toBe(0);
  });

  it('a reference to a task that is not here is told until that comes', async () => {
    await using temp = await tempStore();
    await fold(temp, [
      line('fg-wait', { dependencies: [{ id: 'fg-comes', type: 'blocks' }] }),
      line('fg-chld', { parent_id: 'fg-comes' }),
    ]);
    const missing = async () => (await temp.store.diagnose(temp.clock.now())).missing;
    expect(await missing()).toEqual(['fg-chld -> fg-comes', 'fg-wait -> fg-comes']);
    await fold(temp, [line('fg-comes')]);
    expect(await missing()).toEqual([]);
  });
});

describe('a database that is made anew from the replica', () => {
  it('holds what a fold brought', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
    const { id } = await create(there, 'Claimed and closed');
    await claim(there, id, 'bob');
    await close(there, id);
    const { id: gone } = await create(there, 'Deleted');
    await there.store.deleteTask({ id: gone }, by(there));
    await fold(here, await exportLines(there));
    const lines = await exportLines(here);
    await here.rebuild();
    expect(await exportLines(here)).toEqual(lines);
  });

  it('holds keys that others wrote with an escape', async () => {
    await using here = await tempStore();
    const strange = { 'k\\': 0, 'k\n': 1, 'k"': 2, 'k\\\n': 3, same: 0 };
    await fold(here, [line('fg-0000', { metadata: strange, strange })]);
    const lines = await exportLines(here);
    await here.rebuild();
    expect(await exportLines(here)).toEqual(lines);
    expect((await here.store.getTask('fg-0000')).metadata).toEqual(strange);
  });

  it('holds tasks that were told apart', async () => {
    await using here = await tempStore();
    await fold(here, [
      line('fg-same', { title: 'Ours', created_by: 'ann' }),
      line('fg-ourb', { dependencies: [{ id: 'fg-same', type: 'blocks' }] }),
    ]);
    expect((await fold(here, [line('fg-same', { title: 'Theirs' })])).renamed).toHaveLength(1);
    const lines = await exportLines(here);
    await here.rebuild();
    expect(await exportLines(here)).toEqual(lines);
  });

  it('knows a value that was exported, which whoever wrote the later one never saw', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
    const { id } = await create(here, 'Old');
    await fold(there, await shareLines(here));
    await here.store.updateTask({ id, title: 'New' }, by(here));
    await shareLines(here);
    there.clock.advance(60_000);
    await there.store.updateTask({ id, title: 'Newer' }, by(there));
    await here.rebuild();
    expect((await fold(here, await exportLines(there))).conflicts).toEqual([{ id, name: 'title' }]);
  });

  it('holds the moves, also those that came in, and after the replica was compacted', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
    const { id } = await create(there, 'Lived');
    await claim(there, id, 'bob');
    await close(there, id);
    await fold(here, await exportLines(there));
    const history = { actor: { kind: 'system', name: 'fold', named: true }, now: here.clock.now() } as const;
    await here.store.foldHistory(toRequest(await exportMoves(there), { path: 'history' }), history);
    await here.store.reopenTask({ id, reason: 'not yet' }, by(here));
    const moves = await exportMoves(here);
    expect(moves).toHaveLength(3);
    await here.rebuild();
    expect(await exportMoves(here)).toEqual(moves);
    await here.store.compactReplica(by(here));
    await here.rebuild();
    expect(await exportMoves(here)).toEqual(moves);
  });

  it('lacks a removal that was pruned', async () => {
    await using here = await tempStore();
    const { id } = await create(here, 'Labelled', { labels: ['old', 'kept'] });
    await here.store.updateTask({ id, labels_remove: ['old'] }, by(here));
    here.clock.advance(1_000);
    await here.store.prune(here.clock.now(), by(here));
    const lines = await exportLines(here);
    expect(lines.join('\n')).not.toContain('old');
    await here.rebuild();
    expect(await exportLines(here)).toEqual(lines);
  });
});

function idAt(at: number): string {
  return `fg-${at.toString(36).padStart(4, '0')}`;
}

function manyLines(count: number): { readonly [key: string]: unknown }[] {
  return Array.from({ length: count }, (_, at) => ({ ...line(idAt(at)) }));
}

function tablesOf(temp: TempStore): unknown {
  const names = rowsOf(temp, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  return names.map((row) => rowsOf(temp, `SELECT * FROM "${String((row as { name: unknown }).name)}"`));
}

function rowsOf(temp: TempStore, sql: string): unknown[] {
  using db = temp.connect();
  return db
    .prepare(sql)
    .all()
    .map((row) => ({ ...row }));
}
