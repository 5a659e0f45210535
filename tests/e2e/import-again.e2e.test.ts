import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import type { ForgeProject } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';

/** A task of the other tool. */
interface Theirs {
  readonly title: string;
  readonly labels: readonly string[];
  readonly done?: boolean;
  readonly updated: number;
}

const FIRST = Date.UTC(2026, 0, 2);
/** Later than all that is written here. */
const LATER = Date.now() + 7_200_000;

function toIso(at: number): string {
  return new Date(at).toISOString();
}

const TOOLS: Readonly<Record<string, (theirs: Theirs) => readonly [string, string]>> = {
  beads: ({ title, labels, done = false, updated }) => [
    'issues.jsonl',
    JSON.stringify({
      id: 'bd-1',
      title,
      labels,
      status: done ? 'closed' : 'open',
      created_at: '2026-01-01T00:00:00Z',
      updated_at: toIso(updated),
    }),
  ],
  'backlog-md': ({ title, labels, done = false, updated }) => [
    'tasks/task-1 - one.md',
    [
      '---',
      'id: task-1',
      `title: ${title}`,
      `status: ${done ? 'Done' : 'To Do'}`,
      `labels: [${labels.join(', ')}]`,
      "created_date: '2026-01-01 00:00'",
      `updated_date: '${toIso(updated).slice(0, 16).replace('T', ' ')}'`,
      '---',
      '',
    ].join('\n'),
  ],
  'task-master': ({ title, labels, done = false, updated }) => [
    'tasks.json',
    JSON.stringify({
      master: {
        tasks: [
          {
            id: 1,
            title,
            tags: labels,
            status: done ? 'done' : 'pending',
            createdAt: '2026-01-01T00:00:00Z',
            updatedAt: toIso(updated),
          },
        ],
      },
    }),
  ],
};

interface Counts {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly tasks: readonly { readonly id: string }[];
}

async function importOf(
  project: ForgeProject,
  tool: string,
  { folder = 'source', ...theirs }: Theirs & { readonly folder?: string },
): Promise<Counts> {
  const source = join(project.path, '..', folder);
  const [file, text] = TOOLS[tool]?.(theirs) ?? ['', ''];
  mkdirSync(join(source, 'tasks'), { recursive: true });
  writeFileSync(join(source, file), text);
  const from = tool === 'task-master' ? join(source, file) : source;
  return JSON.parse((await project.run('import', '--from', tool, from, '--json')).stdout) as Counts;
}

/** A task of the other tool with the labels a and b, worked on here. */
async function importedFrom(tool: string) {
  const project = await forgeProjectHere();
  const other = await project.create('other');
  const { tasks } = await importOf(project, tool, { title: 'one', labels: ['a', 'b'], updated: FIRST });
  const id = tasks[0]?.id ?? '';
  await project.run('task', 'update', id, '--label-add', 'here', '--label-remove', 'a', '--meta-set', 'k=1');
  await project.run('dep', 'add', id, other.id);
  return { project, id, other };
}

async function lostIn(project: ForgeProject): Promise<string[]> {
  const lost = JSON.parse((await project.run('conflicts', '--json')).stdout) as { name: string }[];
  return lost.map(({ name }) => name);
}

describe.for(Object.keys(TOOLS))('a second import from %s', (tool) => {
  it('takes what was changed there, and leaves what was added and removed here', async () => {
    const { project, id, other } = await importedFrom(tool);
    await using _ = project;
    const theirs = { title: 'one there', labels: ['a', 'b'], updated: LATER };
    expect(await importOf(project, tool, theirs)).toMatchObject({ created: 0, updated: 1 });
    const task = (await project.show(id)) as Task;
    expect(task).toMatchObject({ title: 'one there', labels: ['b', 'here'], metadata: { k: 1 } });
    expect(task.dependencies.map((one) => one.id)).toEqual([other.id]);
    expect(await lostIn(project)).toEqual([]);
    expect(await importOf(project, tool, theirs)).toMatchObject({ created: 0, updated: 0 });
    expect((await project.show(id)).labels).toEqual(['b', 'here']);
  });

  it('takes labels that were added and removed there, and a close', async () => {
    const { project, id } = await importedFrom(tool);
    await using _ = project;
    await importOf(project, tool, { title: 'one', labels: ['a', 'new'], updated: LATER, done: true });
    expect(await project.show(id)).toMatchObject({ status: 'closed', labels: ['here', 'new'] });
    await importOf(project, tool, { title: 'one', labels: ['a', 'new'], updated: LATER + 3_600_000 });
    expect(await project.show(id)).toMatchObject({ status: 'open', labels: ['here', 'new'] });
  });

  it('tells what was written here and does not stand', async () => {
    const { project, id } = await importedFrom(tool);
    await using _ = project;
    await project.run('task', 'update', id, '--title', 'one here');
    await importOf(project, tool, { title: 'one there', labels: ['a', 'b'], updated: LATER });
    expect((await project.show(id)).title).toBe('one there');
    expect(await lostIn(project)).toEqual(['title']);
  });

  it('from another folder, of which nothing is remembered, leaves what was added and removed here', async () => {
    const { project, id, other } = await importedFrom(tool);
    await using _ = project;
    await importOf(project, tool, {
      title: 'one there',
      labels: ['a', 'new'],
      updated: LATER,
      folder: 'moved',
    });
    const task = (await project.show(id)) as Task;
    expect(task).toMatchObject({ title: 'one there', labels: ['b', 'here', 'new'] });
    expect(task.dependencies.map((one) => one.id)).toEqual([other.id]);
  });

  it('of what is older than what was written here leaves that', async () => {
    const { project, id } = await importedFrom(tool);
    await using _ = project;
    await project.run('task', 'update', id, '--title', 'one here');
    await importOf(project, tool, { title: 'one there', labels: ['b'], updated: FIRST + 60_000 });
    expect(await project.show(id)).toMatchObject({ title: 'one here', labels: ['b', 'here'] });
  });
});
