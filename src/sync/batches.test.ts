import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { addToBatch, closeBatch, createBatch, getBatch, listBatches } from './batches.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const task = (id: string, path = '/a') => ({ id, project: path.slice(1), path });

describe('[S122] batches.jsonl', () => {
  it('has a line for each batch, with its tasks in the order they came, each once', async () => {
    await using folder = await tempFolder();
    const home = folder.path;
    const tasks = [task('fg-aaaa'), task('pb-bbbb', '/b'), task('fg-aaaa')];
    const made = await createBatch(home, { name: 'r 1', tasks, now: NOW });
    expect(made).toEqual({
      name: 'r 1',
      tasks: tasks.slice(0, 2),
      created_at: '2026-02-10T09:00:00.000Z',
      closed_at: null,
    });
    expect(await folder.read('batches.jsonl')).toBe(`${JSON.stringify(made)}\n`);
    await createBatch(home, { name: 'r 2', tasks: [], now: NOW });
    const more = await addToBatch(home, {
      name: 'r 1',
      tasks: [task('pb-bbbb', '/b'), task('fg-cccc'), task('fg-aaaa', '/other')],
    });
    expect(more.added).toEqual(['fg-cccc', 'fg-aaaa']);
    expect(getBatch(home, 'r 1').tasks.map(({ id, path }) => `${path}:${id}`)).toEqual([
      '/a:fg-aaaa',
      '/b:pb-bbbb',
      '/a:fg-cccc',
      '/other:fg-aaaa',
    ]);
    expect(listBatches(home).map(({ name }) => name)).toEqual(['r 1', 'r 2']);
  });

  it('refuses a second batch of a name, an unknown one, and more tasks for a closed one', async () => {
    await using folder = await tempFolder();
    const home = folder.path;
    await createBatch(home, { name: 'r', tasks: [], now: NOW });
    await expect(createBatch(home, { name: 'r', tasks: [], now: NOW })).rejects.toMatchObject({
      code: 'already_exists',
      hint: 'forge batch add "r" <ids...>',
    });
    expect(() => getBatch(home, 'x')).toThrow('No batch "x"');
    await expect(addToBatch(home, { name: 'x', tasks: [] })).rejects.toMatchObject({ code: 'not_found' });
    await expect(closeBatch(home, { name: 'x', now: NOW })).rejects.toMatchObject({ code: 'not_found' });
    const closed = await closeBatch(home, { name: 'r', now: NOW });
    expect(closed.closed_at).toBe('2026-02-10T09:00:00.000Z');
    expect(await closeBatch(home, { name: 'r', now: NOW + 5 })).toEqual(closed);
    await expect(addToBatch(home, { name: 'r', tasks: [task('fg-aaaa')] })).rejects.toMatchObject({
      code: 'state_invalid',
    });
  });

  it('keeps keys that it does not know, of batches and of tasks', async () => {
    await using folder = await tempFolder();
    const line = {
      later: [1],
      name: 'r',
      tasks: [{ id: 'fg-aaaa', project: 'a', path: '/a', note: 'x' }],
      created_at: 'then',
    };
    const other = '{"name":"s",   "tasks":[]}';
    await folder.write('batches.jsonl', `${JSON.stringify(line)}\n${other}\n`);
    await addToBatch(folder.path, { name: 'r', tasks: [task('fg-bbbb')] });
    expect(await folder.read('batches.jsonl')).toBe(
      `${JSON.stringify({ ...line, tasks: [...line.tasks, task('fg-bbbb')], closed_at: null })}\n${other}\n`,
    );
  });

  it.each([
    'not json',
    '{"tasks":[]}',
    '{"name":"r"}',
    '{"name":"r","tasks":[{"id":"fg-aaaa"}]}',
    '{"name":"r","tasks":[null]}',
  ])('is left alone when it holds %s', async (line) => {
    await using folder = await tempFolder();
    const text = `{"name":"ok","tasks":[]}\n${line}\n`;
    await folder.write('batches.jsonl', text);
    expect(() => listBatches(folder.path)).toThrow('line 2');
    await expect(createBatch(folder.path, { name: 'n', tasks: [], now: NOW })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    expect(await folder.read('batches.jsonl')).toBe(text);
  });

  it('keeps batches and their tasks up to a limit, and says how to make room', async () => {
    await using folder = await tempFolder();
    const home = folder.path;
    const tasks = Array.from({ length: LIMITS.batches_tasks - 1 }, (_, at) => task(`fg-${at.toString(36)}`));
    await createBatch(home, { name: 'all', tasks, now: NOW });
    const two = [task('pb-aaaa', '/b'), task('pb-bbbb', '/b')];
    const refused = { code: 'state_invalid', hint: expect.stringContaining('batches.jsonl') as string };
    await expect(createBatch(home, { name: 'b', tasks: two, now: NOW })).rejects.toMatchObject(refused);
    await expect(addToBatch(home, { name: 'all', tasks: two })).rejects.toMatchObject(refused);
    expect((await addToBatch(home, { name: 'all', tasks: two.slice(0, 1) })).added).toEqual(['pb-aaaa']);
    // What is there already makes it no larger.
    expect((await addToBatch(home, { name: 'all', tasks: two.slice(0, 1) })).added).toEqual([]);
    const line = JSON.stringify({ name: 'x', tasks: [], created_at: '', closed_at: null });
    const lines = Array.from({ length: LIMITS.batches }, (_, at) => line.replace('"x"', `"x${at}"`));
    await folder.write('batches.jsonl', `${lines.join('\n')}\n`);
    await expect(createBatch(home, { name: 'b', tasks: [], now: NOW })).rejects.toMatchObject(refused);
  });
});
