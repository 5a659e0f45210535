import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { readPipe } from './read-pipe.ts';

describe('what is read from a path that may be a pipe', () => {
  it('comes whole out of a pipe and out of a file', async () => {
    await using folder = await tempFolder();
    await folder.write('file', 'one\n');
    expect(String(await readPipe(join(folder.path, 'file')))).toBe('one\n');
    const pipe = join(folder.path, 'pipe');
    execFileSync('env', ['mkfifo', pipe]);
    const writer = spawn('sh', ['-c', 'printf two > "$1"', 'sh', pipe], { stdio: 'ignore' });
    const ended = once(writer, 'exit');
    expect(String(await readPipe(pipe))).toBe('two');
    await ended;
    expect(await readPipe(join(folder.path, 'none'))).toBeUndefined();
  });

  it('is no more than the limit', async () => {
    await using folder = await tempFolder();
    const pipe = join(folder.path, 'pipe');
    execFileSync('env', ['mkfifo', pipe]);
    const writer = spawn('sh', ['-c', 'cat /dev/zero > "$1"', 'sh', pipe], { stdio: 'ignore' });
    const ended = once(writer, 'exit');
    await expect(readPipe(pipe, { max_bytes: 200_000 })).rejects.toThrow(
      `${pipe} gives more than 200000 bytes`,
    );
    // It has nobody to write to any more.
    await ended;
  });

  it('is refused where it is a device or a folder', async () => {
    await using folder = await tempFolder();
    const device = join(folder.path, 'device');
    symlinkSync('/dev/null', device);
    await expect(readPipe(device)).rejects.toThrow(`${device} is no file and no pipe but a device`);
    mkdirSync(join(folder.path, 'folder'));
    await expect(readPipe(join(folder.path, 'folder'))).rejects.toThrow('but a folder');
  });
});
