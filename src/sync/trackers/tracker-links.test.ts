import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeRecord } from '#domain/record-codec.ts';
import { NOW } from '../../../tests/support/tracker-tasks.ts';
import { tempFolder } from '../../../tests/support/temp-repo.ts';
import { readTrackerTasks, type Tracker } from '../read-tracker-tasks.ts';

const rules = { idPrefix: 'fg', now: NOW };
const task = (id: string, title: string): string => `---\nid: ${id}\ntitle: ${title}\nstatus: To Do\n---\n`;
const outside = JSON.stringify({
  id: 'x-1',
  title: 'Outside',
  status: 'open',
  tasks: [{ id: 1, title: 'Outside' }],
});

describe('links in the files of another tracker', () => {
  it('that lead out of the folder are noted and not read; those inside of it are', async () => {
    await using folder = await tempFolder();
    await folder.write('diary.md', task('task-2', 'Outside'));
    await folder.write('repo/tasks/c.md', task('task-3', 'Fine'));
    await folder.write('repo/kept/d.md', task('task-4', 'Kept'));
    await folder.write('repo/milestones/m.md', '---\nid: m-1\ntitle: M\n---\n');
    const repo = join(folder.path, 'repo');
    symlinkSync(join(folder.path, 'diary.md'), join(repo, 'tasks/b.md'));
    symlinkSync(join(folder.path, 'diary.md'), join(repo, 'milestones/n.md'));
    symlinkSync('../kept/d.md', join(repo, 'tasks/d.md'));
    const { records, notes } = readTrackerTasks('backlog-md', repo, rules);
    expect(records).toHaveLength(2);
    expect(records.map((record) => encodeRecord(record)).join('\n')).not.toContain('Outside');
    for (const where of ['tasks/b.md', 'milestones/n.md'])
      expect(notes).toContainEqual({ where, what: expect.stringContaining('is not followed') as string });
    // A person may name a link.
    symlinkSync(repo, join(folder.path, 'named'));
    expect(readTrackerTasks('backlog-md', join(folder.path, 'named'), rules).records).toHaveLength(2);
  });

  it.each([
    ['beads', '.beads/issues.jsonl', 'file'],
    ['beads', '.beads', 'folder'],
    ['task-master', 'tasks/tasks.json', 'file'],
    ['task-master', 'tasks', 'folder'],
  ] as const)('%s: %s that is a link to a %s elsewhere is refused', async (tool: Tracker, place, kind) => {
    await using folder = await tempFolder();
    for (const name of ['issues.jsonl', 'tasks.json']) await folder.write(`elsewhere/${name}`, outside);
    const at = join(folder.path, 'repo', place);
    mkdirSync(join(at, '..'), { recursive: true });
    const name = kind === 'folder' ? '' : (place.split('/').at(-1) ?? '');
    symlinkSync(join(folder.path, 'elsewhere', name), at);
    const read = () => readTrackerTasks(tool, join(folder.path, 'repo'), rules);
    expect(read).toThrow('which is not followed');
  });

  it('a folder of Backlog.md that is a link elsewhere gives no task', async () => {
    await using folder = await tempFolder();
    await folder.write('elsewhere/tasks/a.md', task('task-1', 'Outside'));
    mkdirSync(join(folder.path, 'repo'));
    symlinkSync(join(folder.path, 'elsewhere'), join(folder.path, 'repo/backlog'));
    expect(readTrackerTasks('backlog-md', join(folder.path, 'repo'), rules).records).toEqual([]);
  });
});
