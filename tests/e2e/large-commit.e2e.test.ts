import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeRecord } from '#domain/record-codec.ts';
import { newRecord } from '#domain/task-changes.ts';
import { LIMITS } from '#kernel/limits.ts';
import { forgeProject, type ForgeProject } from '../support/forge-cli.ts';

const COUNT = 1_500;
const FILE = '.forge/tasks.jsonl';

describe('[D14] a commit with a large task file', () => {
  let project: ForgeProject;
  beforeAll(async () => {
    project = await forgeProject();
    await project.write(FILE, Array.from({ length: COUNT }, (_, i) => `${toLine(i)}\n`).join(''));
    await project.run('export');
    project.git('add', '.');
    project.git('commit', '--quiet', '--no-verify', '-m', 'tasks');
  });
  afterAll(() => project[Symbol.asyncDispose]());

  /** Changes a task and another file, and commits; what git has of the task file then. */
  const commit = async (title: string): Promise<string> => {
    await project.run('task', 'update', taskId(7), '--title', title);
    await project.write('code.txt', `${title}\n`);
    project.git('add', 'code.txt');
    project.git('commit', '--quiet', '-m', title);
    return project.git('rev-parse', `HEAD:${FILE}`);
  };
  const has = (oid: string): boolean => {
    try {
      project.git('cat-file', '-e', oid);
      return true;
    } catch {
      return false;
    }
  };

  it('carries the very bytes of the file, and leaves the checkout and the store of objects sound', async () => {
    expect(statSync(join(project.path, FILE)).size).toBeGreaterThan(LIMITS.large_file_bytes);
    const oid = await commit('First');
    expect(oid).toBe(nameOf(readFileSync(join(project.path, FILE))));
    expect(project.git('diff', '--unified=0', 'HEAD~', 'HEAD', '--', FILE)).toContain('"title":"First"');
    expect(project.git('status', '--porcelain')).toBe('');
    expect(project.git('fsck', '--strict', '--no-dangling')).toBe('');
    expect(await project.read('.git/forge/loose-blobs')).toContain(oid);
  });

  it('keeps a key out that a changed task holds, and one that a person staged beside it', async () => {
    const before = project.git('rev-parse', `HEAD:${FILE}`);
    expect(await commit(`Use ghp_${'a1B2'.repeat(9)}`)).toBe(before);
    await project.json('task', 'update', taskId(7), '--title', 'Clean');
    const path = join(project.path, FILE);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('"title":"Task 9"', `"title":"ghp_${'c3D4'.repeat(9)}"`));
    project.git('add', FILE);
    expect(await commit('Clean again')).toBe(before);
    await project.json('task', 'update', taskId(9), '--title', 'Task 9');
    expect(await commit('Clean at last')).not.toBe(before);
  });

  it('puts nothing past a filter into the store of objects', async () => {
    project.git('config', 'filter.shout.clean', 'tr a-z A-Z');
    await project.write('.git/info/attributes', `${FILE} filter=shout\n`);
    // The first commit under the filter still has the bytes of the last one before it.
    await commit('Loud');
    const oid = await commit('Louder');
    expect(project.git('diff', '--unified=0', 'HEAD~', 'HEAD', '--', FILE)).toContain('"TITLE":"LOUDER"');
    const plain = nameOf(readFileSync(join(project.path, FILE)));
    expect(oid).not.toBe(plain);
    expect(has(plain)).toBe(false);
  });
});

/** So that the file is large in git's store of objects too. */
function noise(i: number): string {
  return createHash('sha512').update(String(i)).digest('base64');
}

function nameOf(bytes: Buffer): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

function taskId(i: number): string {
  return `fg-x${String(i).padStart(4, '0')}`;
}

function toLine(i: number): string {
  const task = { id: taskId(i), created_by: 'bob', state: 'todo', assignee: null };
  const fields = {
    title: `Task ${i}`,
    description: `${noise(i)}${'What is to be done. '.repeat(28)}`,
    priority: 2,
  };
  const more = { labels: [], dependencies: [], metadata: new Map<string, number>() };
  return encodeRecord(newRecord({ ...task, fields, ...more }, 1_700_000_000_000 + i));
}
