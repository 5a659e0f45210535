import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import type { Json, JsonObject } from '#kernel/json.ts';
import { forgeClones, type Clone } from '../support/git-clones.ts';

const FILE = '.forge/tasks.jsonl';
const NEWS = {
  states: [
    { name: 'pitch', kind: 'initial', next: ['draft'] },
    { name: 'draft', kind: 'active', next: ['proof'] },
    { name: 'proof', kind: 'gate', next: ['printed', 'draft'] },
    { name: 'printed', kind: 'terminal' },
    { name: 'spiked', kind: 'terminal' },
  ],
  cancellation_state: 'spiked',
};
const LINES = [
  ['fg-op01', { status: 'open' }, 'pitch'],
  ['fg-ip01', { status: 'in_progress', assignee: 'ann' }, 'draft'],
  ['fg-cl01', { status: 'closed', close_reason: 'Done' }, 'printed'],
  ['fg-ca01', { status: 'closed', close_reason: 'wontfix' }, 'spiked'],
  ['fg-un01', { status: 'in_progress', state: 'merging', assignee: 'ann' }, 'draft'],
] as const;
const STATES = Object.fromEntries(LINES.map(([id, , state]) => [id, state]));

describe('[S58] a line with a status and no state of the workflow', () => {
  it('gets one: in the file, by an import, after a lost database and in a clone', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    await useWorkflow(a);
    a.write(FILE, lines(LINES.slice(0, 2)));
    await a.run('ready'); // tells what came in
    a.write('others.jsonl', lines(LINES.slice(2)));
    await a.run('import', 'others.jsonl');
    expect(await states(a)).toEqual(STATES);
    for (const end of ['', '-wal', '-shm'])
      rmSync(join(a.path, `.git/forge/forge.db${end}`), { force: true });
    await a.run('ready');
    expect(await states(a)).toEqual(STATES);
    await a.run('commit');
    a.git('add', '.forge/workflow.json');
    a.git('commit', '--quiet', '-m', 'the workflow');
    a.git('push', '--quiet');
    b.git('pull', '--quiet');
    await b.run('ready');
    expect(await states(b)).toEqual(STATES);
    // The file keeps the words it came with: a clone with another workflow reads them by its own.
    const kept = readFileSync(join(b.path, FILE), 'utf8')
      .split('\n')
      .filter((line) => line.includes('"state"'));
    expect(kept.map((line) => (JSON.parse(line) as Task).state)).toEqual(['merging']);
  });

  it('is found, claimed, moved and closed by the state that is shown', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    await useWorkflow(a);
    a.write(FILE, lines(LINES));
    await a.run('ready');
    for (const state of new Set(Object.values(STATES))) {
      const found = await a.json<Task[]>('task', 'list', '--all', '--state', state);
      expect(found.map(({ id }) => id).sort()).toEqual(
        LINES.flatMap(([id, , stands]) => (stands === state ? [id] : [])).sort(),
      );
    }
    expect(await a.json('claim', 'fg-op01')).toMatchObject({ state: 'draft' });
    await a.json('task', 'transition', 'fg-un01', 'proof');
    expect((await a.json<Task>('task', 'show', 'fg-un01')).state).toBe('proof');
  });

  it('in progress without an owner is told to people, who can claim it', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const { id } = await a.create('one');
    await a.run('commit');
    a.write(FILE, a.read(FILE).replace('"status":"open"', '"status":"in_progress"'));
    expect(await a.json('task', 'show', id)).toMatchObject({ status: 'in_progress', assignee: null });
    expect(await a.json('ready')).toEqual([]);
    expect(await a.json('inbox')).toMatchObject([
      { kind: 'stuck', task_id: id, command: `forge claim ${id}` },
    ]);
    expect(await a.json('claim', id)).toMatchObject({ claimed: true, status: 'in_progress' });
    expect(await a.json('inbox')).toEqual([]);
  });

  it('a status that a person changes takes the state along', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    await useWorkflow(a);
    const task = await a.create('one');
    await a.json('claim', task.id);
    await a.json('task', 'transition', task.id, 'proof');
    await a.run('commit');
    expect(a.read(FILE)).toContain('"state":"proof"');
    for (const [from, to, state] of [
      ['in_progress', 'closed', 'printed'],
      ['closed', 'open', 'pitch'],
      // As it was to the byte, so that it is what it was.
      ['open', 'in_progress', 'proof'],
      ['in_progress', 'closed', 'printed'],
    ]) {
      a.write(FILE, a.read(FILE).replace(`"status":"${from}"`, `"status":"${to}"`));
      expect(await a.json('task', 'show', task.id)).toMatchObject({ status: to, state });
    }
    await a.run('commit');
    expect(a.read(FILE)).not.toContain('"state":"proof"');
  });
});

async function useWorkflow(clone: Clone): Promise<void> {
  clone.write('news.json', JSON.stringify(NEWS));
  await clone.run('workflow', 'set', 'news.json');
}

function lines(some: readonly (typeof LINES)[number][]): string {
  const made = { created_by: 'ann', created_at: '2026-02-10T09:00:00.000Z' };
  return some
    .map(([id, line]) => `${JSON.stringify({ id, title: id, ...line, ...made } as JsonObject)}\n`)
    .join('');
}

async function states(clone: Clone): Promise<Json> {
  const tasks = await clone.json<Task[]>('task', 'list', '--all');
  return Object.fromEntries(tasks.map(({ id, state }) => [id, state]));
}
