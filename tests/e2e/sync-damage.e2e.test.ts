import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ForgeProject } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { expectCanonical, linesOf, recordIn, titlesIn, titlesOf } from '../support/git-clones.ts';

interface Imported {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly unreadable: readonly { number: number; why: string }[];
}

/** A project whose file was written: two tasks, and the text of the file. */
async function writtenProject(): Promise<{
  project: ForgeProject;
  text: string;
  path: string;
  ids: string[];
}> {
  const project = await forgeProjectHere();
  const ids = [(await project.create('one')).id, (await project.create('two')).id];
  await project.json('export');
  const path = join(project.path, '.forge/tasks.jsonl');
  return { project, text: readFileSync(path, 'utf8'), path, ids };
}

const LINE = {
  description: '',
  status: 'open',
  priority: 2,
  type: 'task',
  assignee: null,
  parent_id: null,
  dependencies: [],
  labels: [],
  github_issue: null,
  created_at: '2020-01-01T00:00:00.000Z',
  created_by: 'somebody',
  updated_at: '2020-01-01T00:00:00.000Z',
  closed_at: null,
  metadata: {},
};
const toLine = (more: Record<string, unknown>): string => `${JSON.stringify({ ...LINE, ...more })}\n`;

describe('a task file that was damaged', () => {
  it('[S56] lines that cannot be read are told and kept as they are, through every rewrite', async () => {
    const { project, text, path } = await writtenProject();
    await using _ = project;
    const bad = ['{bad', '"text"', '[1,2]', '{"id":"fg-half"}', '{"id":"fg-torn","title":"cut off in'];
    const bytes = Buffer.from([0xff, 0xfe, 0x7b, 0x0a]);
    writeFileSync(
      path,
      Buffer.concat([Buffer.from(`${bad[0]}\n${text}${bad.slice(1).join('\n')}\n`), bytes]),
    );
    const told = await project.run('import', '--json');
    expect(told).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining('6 lines that cannot be read (line 1: '),
    });
    const report = JSON.parse(told.stdout) as Imported;
    expect(report.unreadable.map(({ number }) => number)).toEqual([1, 4, 5, 6, 7, 0]);
    // Said once; the commands after that have nothing new to say.
    expect(await titlesOf(project)).toEqual(['one', 'two']);
    await project.create('three');
    for (const command of ['export', 'gc', 'export']) {
      await project.json(command);
      const now = readFileSync(path);
      expect(titlesIn(now.toString('utf8'))).toEqual(expect.arrayContaining(['one', 'three', 'two']));
      for (const line of bad) expect(linesOf(now.toString('utf8'))).toContain(line);
      expect(now.includes(bytes)).toBe(true);
    }
    project.git('add', '.');
    project.git('commit', '--quiet', '-m', 'with bad lines');
    expect(project.git('status', '--porcelain')).toBe('');
    rmSync(join(project.path, '.git/forge'), { recursive: true });
    expect(await titlesOf(project)).toEqual(['one', 'three', 'two']);
    expect((await project.run('export')).exit).toBe(0);
    expect(project.git('status', '--porcelain')).toBe('');
    // Whoever takes them out is rid of them.
    const [good] = [
      readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line.includes('created_at')),
    ];
    writeFileSync(path, `${good.join('\n')}\n`);
    await project.json('export');
    expectCanonical(readFileSync(path, 'utf8'));
    expect(titlesIn(readFileSync(path, 'utf8'))).toEqual(['one', 'three', 'two']);
  });

  it.each([
    ['carriage returns', (text: string) => text.replaceAll('\n', '\r\n')],
    ['a byte order mark', (text: string) => `\uFEFF${text}`],
    ['blank lines', (text: string) => `\n${text.replaceAll('\n', '\n   \n')}`],
    ['no newline at the end', (text: string) => text.slice(0, -1)],
    ['every line twice', (text: string) => text + text],
    ['another order', (text: string) => `${linesOf(text).toReversed().join('\n')}\n`],
    ['other spacing', (text: string) => text.replaceAll(/^\{"id":/gm, '{ "id": ')],
  ])('%s: read as if nothing were, and written as it should be', async (_, damage) => {
    const { project, text, path } = await writtenProject();
    await using _project = project;
    writeFileSync(path, damage(text));
    expect(readFileSync(path, 'utf8')).not.toBe(text);
    expect(await project.json<Imported>('import')).toMatchObject({ created: 0, updated: 0, unreadable: [] });
    expect(await project.json('export')).toMatchObject({ tasks: { changed: true } });
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('a line of 5 MB is a task like any other; one beyond all measure is refused, and stays', async () => {
    const { project, text, path } = await writtenProject();
    await using _ = project;
    writeFileSync(path, toLine({ id: 'fg-0000', title: 'big', description: 'x'.repeat(5_000_000) }) + text);
    expect(await project.json<Imported>('import')).toMatchObject({ created: 1, unreadable: [] });
    await project.json('task', 'update', 'fg-0000', '--priority', '0');
    await project.json('export');
    const big = recordIn(readFileSync(path, 'utf8'), 'big');
    expect([big['priority'], String(big['description']).length]).toEqual([0, 5_000_000]);
    const before = readFileSync(path);
    writeFileSync(path, Buffer.concat([before, Buffer.alloc(70_000_000, 'x')]));
    const { exit, stderr } = await project.run('export');
    expect(exit).not.toBe(0);
    expect(stderr).toContain('line 4 has more than');
    expect(readFileSync(path).length).toBe(before.length + 70_000_000);
  });

  it('conflict markers, also with the ancestor between them, are the two sides', async () => {
    const { project, text, path, ids } = await writtenProject();
    await using _ = project;
    const [first = '', second = ''] = linesOf(text);
    const id = ids.find((known) => first.includes(known)) ?? '';
    await project.json('task', 'update', id, '--title', 'changed');
    await project.json('export');
    const [changed = ''] = linesOf(readFileSync(path, 'utf8'));
    const added = toLine({ id: 'fg-new1', title: 'new' }).trim();
    for (const [ours, theirs] of [
      [[first], [changed, added]],
      [[added, changed], [first]],
    ] as const) {
      // What the two sides say is all that is left.
      rmSync(join(project.path, '.git/forge'), { recursive: true });
      const sides = ['<<<<<<< HEAD', ...ours, '||||||| abc1234', first, '=======', ...theirs, '>>>>>>> feat'];
      writeFileSync(path, `${sides.join('\n')}\n${second}\n`);
      expect(await project.run('import')).toMatchObject({ exit: 0 });
      expect((await project.show(id)).title).toBe('changed');
      expect(await titlesOf(project)).toHaveLength(3);
    }
    await project.json('export');
    expectCanonical(readFileSync(path, 'utf8'));
    expect(linesOf(readFileSync(path, 'utf8'))).toHaveLength(3);
  });

  it('an edit by hand counts, and an emptied or removed file takes nothing away', async () => {
    const { project, text, path, ids } = await writtenProject();
    await using _ = project;
    writeFileSync(path, text.replace('"title":"one"', '"title":"one by hand"'));
    expect(await titlesOf(project)).toEqual(['one by hand', 'two']);
    writeFileSync(path, '');
    expect(await titlesOf(project)).toEqual(['one by hand', 'two']);
    await project.json('export');
    expect(titlesIn(readFileSync(path, 'utf8'))).toEqual(['one by hand', 'two']);
    rmSync(path);
    await project.json('task', 'update', ids[1] ?? '', '--title', 'two again');
    await project.json('export');
    expect(titlesIn(readFileSync(path, 'utf8'))).toEqual(['one by hand', 'two again']);
  });
});
