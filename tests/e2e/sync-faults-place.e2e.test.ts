import { execFile, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Task } from '#contract/task.ts';
import { FORGE, type ForgeProject, type ProgramResult } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';

/** Needs the right to mount in a namespace of its own: root, and no sandbox that forbids it. */
const CAN_MOUNT = spawnSync('unshare', ['-m', 'sh', '-c', 'mount --bind /mnt /mnt']).status === 0;
const noMount = CAN_MOUNT ? '' : ' (left out: may not mount here)';
/** Root may read and write whatever the modes say, so that the tests of modes run as somebody else. */
const NOBODY = process.getuid?.() === 0 ? 65_534 : undefined;
const CAN_OWN = process.platform !== 'win32';

describe.skipIf(!CAN_MOUNT)(`a file system that is read-only${noMount}`, () => {
  test('F12 .forge: tasks are read and written, only the files are not', async () => {
    await using project = await projectOfTwo();
    const before = readFiles(project);
    const run = readOnly(project, '.forge');
    expect(await run('task', 'list')).toMatchObject({ exit: 0, stdout: expect.stringContaining('First') });
    expect(await run('task', 'create', 'Third')).toMatchObject({ exit: 0, stderr: '' });
    for (const args of [['export'], ['gc']]) {
      const { exit, stdout, stderr } = await run(...args);
      expect({ exit, stdout }).toEqual({ exit: 6, stdout: '' });
      expect(stderr).toMatch(/^forge: Could not write \S+tasks\.jsonl: EROFS.*\n {2}try: .+\n$/);
    }
    expect(readFiles(project)).toEqual(before);
    await project.text('export');
    expect(readFiles(project).tasks).toContain('Third');
  });

  test('F12 the store: doctor looks at everything, also after the config was changed', async () => {
    await using project = await projectOfTwo();
    const config = join(project.path, '.forge/config.json');
    const text = readFileSync(config, 'utf8');
    writeFileSync(config, text.replace('{', '{ "merge": { "strategy": "squash" },'));
    const { exit, stdout, stderr } = await readOnly(project, '.git/forge')('doctor');
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toContain('Nothing is broken');
  });

  test('F12 the store: said with its path, and nothing is half written', async () => {
    await using project = await projectOfTwo();
    await project.create('Third');
    const before = readFiles(project);
    const run = readOnly(project, '.git/forge');
    for (const args of [['export'], ['gc'], ['task', 'create', 'x']]) {
      const { exit, stderr } = await run(...args);
      expect([args, exit]).not.toEqual([args, 0]);
      expect(stderr).toContain(join(project.path, '.git/forge'));
      expect(stderr).not.toMatch(/\n +at /);
    }
    expect(readFiles(project)).toEqual(before);
    await project.text('export');
    expect(readFiles(project).tasks).toContain('Third');
  });
});

describe('.forge/tasks.jsonl is something else', () => {
  test('a folder: commands go on, an export says what is in the way and leaves nothing', async () => {
    await using project = await projectOfTwo();
    const path = taskFile(project);
    rmSync(path);
    mkdirSync(path);
    writeFileSync(join(path, 'mine'), 'kept');
    expect(await titles(project)).toEqual(['First', 'Second']);
    await project.create('Third');
    const { error } = await project.fails('export');
    expect(error).toMatchObject({ code: 'io_failed', message: expect.stringContaining(path) });
    expect(readFileSync(join(path, 'mine'), 'utf8')).toBe('kept');
    expect(findTemporary(project)).toEqual([]);
    rmSync(path, { recursive: true });
    await project.text('export');
    expect(readFiles(project).tasks.split('\n')).toHaveLength(4);
  });

  test('a link: what it leads to is neither read nor written', async () => {
    await using project = await projectOfTwo();
    const path = taskFile(project);
    const target = join(dirname(project.path), 'elsewhere.jsonl');
    renameSync(path, target);
    symlinkSync(target, path);
    const before = readFileSync(target, 'utf8').replace('"First"', '"Changed there"');
    writeFileSync(target, before);
    expect(await titles(project)).toEqual(['First', 'Second']);
    await project.create('Third');
    await project.text('export');
    expect(readFileSync(target, 'utf8')).toBe(before);
    expect(lstatSync(path).isFile()).toBe(true);
    expect(readFiles(project).tasks).not.toContain('Changed there');
  });

  test('a link to nothing is no file, and its target is not made', async () => {
    await using project = await projectOfTwo();
    const path = taskFile(project);
    const target = join(dirname(project.path), 'nowhere.jsonl');
    rmSync(path);
    symlinkSync(target, path);
    expect(await titles(project)).toEqual(['First', 'Second']);
    await project.create('Third');
    await project.text('export');
    expect(existsSync(target)).toBe(false);
    expect(readFiles(project).tasks).toContain('Third');
  });
});

describe.skipIf(!CAN_OWN)('F12 permissions of the task file', () => {
  test('a file that may not be read: reads go on and say so, an export leaves it alone', async () => {
    await using project = await projectOfTwo();
    const path = taskFile(project);
    const edited = readFileSync(path, 'utf8').replace('"First"', '"Changed by hand"');
    writeFileSync(path, edited);
    const run = asNobody(project);
    chmodSync(path, 0);
    const read = await run('task', 'list');
    expect(read.stderr).toContain(path);
    expect(read).toMatchObject({ exit: 0, stdout: expect.stringContaining('First') });
    expect(read.stderr).toMatch(/^forge: \.forge\/tasks\.jsonl was not joined in: .*\n$/);
    const { exit, stderr } = await run('export');
    expect({ exit, mode: lstatSync(path).mode & 0o777 }).toEqual({ exit: 6, mode: 0 });
    expect(stderr).toContain(path);
    chmodSync(path, 0o644);
    expect(readFileSync(path, 'utf8')).toBe(edited);
    // The same for one that was joined in before: only its time of change differs.
    expect(await run('export')).toMatchObject({ exit: 0 });
    chmodSync(path, 0);
    expect(await run('task', 'list')).toMatchObject({ exit: 0, stderr: expect.stringContaining(path) });
    chmodSync(path, 0o644);
    expect(await run('task', 'list')).toMatchObject({ exit: 0, stdout: expect.stringContaining('by hand') });
  });

  test('a folder that may not be written: an export says so and leaves the file', async () => {
    await using project = await projectOfTwo();
    const before = readFiles(project);
    const run = asNobody(project);
    await run('task', 'create', 'Third');
    chmodSync(join(project.path, '.forge'), 0o555);
    const { exit, stderr } = await run('export');
    chmodSync(join(project.path, '.forge'), 0o755);
    expect(exit).toBe(6);
    expect(stderr).toMatch(/^forge: Could not write \S+tasks\.jsonl: EACCES/);
    expect(readFiles(project)).toEqual(before);
    expect(await run('export')).toMatchObject({ exit: 0 });
  });
});

async function projectOfTwo(): Promise<ForgeProject> {
  const project = await forgeProjectHere();
  await project.create('First');
  await project.create('Second');
  await project.text('export');
  return project;
}

function taskFile({ path }: ForgeProject): string {
  return join(path, '.forge', 'tasks.jsonl');
}

function readFiles({ path }: ForgeProject): { tasks: string; history: string } {
  const read = (name: string): string => readFileSync(join(path, '.forge', name), 'utf8');
  return { tasks: read('tasks.jsonl'), history: read('history.jsonl') };
}

async function titles(project: ForgeProject): Promise<string[]> {
  return (await project.json<Task[]>('task', 'list', '--sort', 'created')).map(({ title }) => title);
}

function findTemporary({ path }: ForgeProject): string[] {
  return readdirSync(join(path, '.forge')).filter((name) => name.endsWith('.tmp'));
}

/** Runs forge where one folder of the project cannot be written, whoever asks. */
function readOnly(project: ForgeProject, folder: string): (...args: string[]) => Promise<ProgramResult> {
  const script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"';
  const place = join(project.path, folder);
  return (...args) =>
    project.exec('unshare', ['-m', 'sh', '-c', script, place, process.execPath, FORGE, ...args]);
}

/** Runs forge as one who owns the project's files and is not root. */
function asNobody(project: ForgeProject): (...args: string[]) => Promise<ProgramResult> {
  const { path } = project;
  chmodSync(dirname(path), 0o755);
  if (NOBODY !== undefined) {
    for (const folder of [join(path, '.forge'), join(path, '.git', 'forge')]) {
      lchownSync(folder, NOBODY, NOBODY);
      for (const name of readdirSync(folder)) lchownSync(join(folder, name), NOBODY, NOBODY);
    }
  }
  const options = {
    cwd: path,
    env: { ...project.env, FORGE_ACTOR: 'nobody' },
    ...(NOBODY !== undefined && { uid: NOBODY, gid: NOBODY }),
  };
  return (...args) =>
    new Promise((done) => {
      execFile(process.execPath, [FORGE, ...args], options, (error, stdout, stderr) =>
        done({ stdout, stderr, exit: error === null ? 0 : Number(error.code) }),
      );
    });
}
