import { describe, expect, it } from 'vitest';
import { attemptPlace, gitIn, writeIn } from '../../tests/support/attempt-places.ts';
import { askGit } from './ask-git.ts';
import { forecastConflicts } from './forecast-conflicts.ts';

const lines = (at: number, text: string) =>
  Array.from({ length: 20 }, (_, line) => (line === at ? `${text}\n` : `${line}\n`)).join('');

describe('forecastConflicts', () => {
  it('finds what merging each with each would find, and with the target', async () => {
    await using world = await attemptPlace();
    const { place, control } = world;
    for (const file of ['f.txt', 'g.txt', 'dir/one', 'dir/two']) await place.write(file, lines(-1, ''));
    place.git('add', '.');
    place.git('commit', '--quiet', '-m', 'base');
    const changes: [string, Record<string, string | null>][] = [
      ['top', { 'f.txt': lines(1, 'top') }],
      ['end', { 'f.txt': lines(18, 'end') }],
      ['top again', { 'f.txt': lines(1, 'again') }],
      ['same', { 'f.txt': lines(1, 'top') }],
      ['other file', { 'g.txt': lines(1, 'x') }],
      ['gone', { 'g.txt': null }],
      ['a file', { thing: 'x\n' }],
      ['a folder', { 'thing/x': 'x\n' }],
      [
        'folder renamed',
        { 'dir/one': null, 'dir/two': null, 'moved/one': lines(-1, ''), 'moved/two': lines(-1, '') },
      ],
      ['new in folder', { 'dir/three': 'three\n' }],
      ['both', { 'f.txt': lines(18, 'both'), 'g.txt': lines(18, 'both') }],
      ['nothing', {}],
    ];
    const heads = await Promise.all(
      changes.map(async ([id, files]) => {
        const checkout = await world.start();
        for (const [path, text] of Object.entries(files)) {
          if (text === null) gitIn(checkout, 'rm', '--quiet', path);
          else writeIn(checkout, path, text);
        }
        return { id, head: (await world.harvest(checkout)).head };
      }),
    );
    await place.write('f.txt', lines(18, 'target'));
    place.git('commit', '--quiet', '-a', '-m', 'target');
    const target = place.git('rev-parse', 'main');
    const forecast = await forecastConflicts(control, { target, heads });
    expect(forecast.target).toEqual([
      { id: 'end', files: ['f.txt'] },
      { id: 'both', files: ['f.txt'] },
    ]);
    // Every pair by itself, without the short cut.
    const expected: string[] = [];
    for (const [at, a] of heads.entries())
      for (const b of heads.slice(at + 1))
        if ((await askGit(control, ['merge-tree', '--write-tree', a.head, b.head])).exit === 1)
          expected.push(`${a.id} × ${b.id}`);
    expect(forecast.pairs.map(({ a, b }) => `${a} × ${b}`)).toEqual(expected);
    expect(expected).toEqual([
      'top × top again',
      'end × both',
      'top again × same',
      'other file × gone',
      'gone × both',
      'a file × a folder',
      'folder renamed × new in folder',
    ]);
    // One that was started later has line 18 from the target: no matter between it and an older one.
    const late = await world.start();
    writeIn(late, 'g.txt', lines(1, 'late'));
    const two = [heads.at(-2) ?? [], { id: 'late', head: (await world.harvest(late)).head }].flat();
    expect(two[0]?.id).toBe('both');
    expect(await forecastConflicts(control, { target, heads: two })).toEqual({
      pairs: [],
      target: [{ id: 'both', files: ['f.txt'] }],
    });
    expect(await forecastConflicts(control, { target, heads: [] })).toEqual({ pairs: [], target: [] });
    // One that has merged the target meanwhile left it twice; what it got from there is not its own.
    place.git('checkout', '--quiet', '-b', 'merged', heads[4]?.head ?? '');
    place.git('merge', '--quiet', '--no-edit', 'main');
    const merged = { id: 'merged', head: place.git('rev-parse', 'HEAD') };
    expect(await forecastConflicts(control, { target, heads: [merged, heads[1] ?? merged] })).toEqual({
      pairs: [],
      target: [{ id: 'end', files: ['f.txt'] }],
    });
  });

  it('heeds attributes, and has nothing to say about unrelated histories but the truth', async () => {
    await using world = await attemptPlace();
    const { place, control } = world;
    await place.write('.gitattributes', '*.log merge=union\n');
    place.git('add', '.');
    place.git('commit', '--quiet', '-m', 'attributes');
    const heads = await Promise.all(
      ['one', 'two'].map(async (id) => {
        const checkout = await world.start();
        writeIn(checkout, 'x.log', `${id}\n`);
        return { id, head: (await world.harvest(checkout)).head };
      }),
    );
    place.git('checkout', '--quiet', '--orphan', 'alone');
    await place.write('a.txt', 'other\n');
    place.git('add', '.');
    place.git('commit', '--quiet', '-m', 'alone');
    heads.push({ id: 'alone', head: place.git('rev-parse', 'HEAD') });
    const target = place.git('rev-parse', 'main');
    const forecast = await forecastConflicts(control, { target, heads });
    expect(forecast.target).toEqual([{ id: 'alone', files: ['a.txt'] }]);
    expect(forecast.pairs).toEqual([]);
  });
});
