import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { readRegularFile } from './read-regular-file.ts';

const refused = (why: string): unknown =>
  expect.objectContaining({
    code: 'invalid_input',
    message: expect.stringContaining(why),
    hint: expect.any(String),
  });

describe('readRegularFile', () => {
  it('gives the bytes of a file, and nothing where there is none', async () => {
    await using folder = await tempFolder();
    const at = (name: string): string => join(folder.path, name);
    writeFileSync(at('a'), 'text');
    writeFileSync(at('empty'), '');
    symlinkSync('a', at('link'));
    expect(readRegularFile(at('a'), { links: 'refuse' })?.toString()).toBe('text');
    expect(readRegularFile(at('empty'), { links: 'refuse' })).toHaveLength(0);
    expect(readRegularFile(at('link'), { links: 'follow' })?.toString()).toBe('text');
    expect(readRegularFile(at('none'), { links: 'refuse' })).toBeUndefined();
    expect(readRegularFile(at('a/below'), { links: 'refuse' })).toBeUndefined();
  });

  it('refuses what would never end, and what is no file', async () => {
    await using folder = await tempFolder();
    const at = (name: string): string => join(folder.path, name);
    mkdirSync(at('folder'));
    execFileSync('env', ['mkfifo', at('pipe')]);
    symlinkSync('/dev/zero', at('device'));
    symlinkSync('pipe', at('to-pipe'));
    for (const links of ['follow', 'refuse'] as const) {
      expect(() => readRegularFile(at('folder'), { links })).toThrow(refused('but a folder'));
      expect(() => readRegularFile(at('pipe'), { links })).toThrow(refused('but a pipe'));
    }
    expect(() => readRegularFile(at('device'), { links: 'follow' })).toThrow(refused('but a device'));
    expect(() => readRegularFile(at('to-pipe'), { links: 'follow' })).toThrow(refused('but a pipe'));
    expect(() => readRegularFile(at('device'), { links: 'refuse' })).toThrow(refused('but a symbolic link'));
  });

  it('refuses a link, and a file below a linked folder, where a repository brought them', async () => {
    await using folder = await tempFolder();
    const at = (name: string): string => join(folder.path, name);
    mkdirSync(at('folder'));
    writeFileSync(at('folder/a'), 'text');
    symlinkSync('folder', at('linked'));
    symlinkSync('folder/a', at('link'));
    symlinkSync('nowhere', at('dangling'));
    for (const name of ['link', 'dangling', 'linked/a'])
      expect(() => readRegularFile(at(name), { links: 'refuse' })).toThrow(refused('a symbolic link'));
  });

  it('refuses what is too large, by its size and by what is read of it', async () => {
    await using folder = await tempFolder();
    const large = join(folder.path, 'large');
    writeFileSync(large, '');
    truncateSync(large, LIMITS.config_bytes);
    expect(readRegularFile(large, { links: 'refuse' })).toHaveLength(LIMITS.config_bytes);
    truncateSync(large, LIMITS.config_bytes + 1);
    expect(() => readRegularFile(large, { links: 'refuse' })).toThrow(refused('is too large'));
    // Says that it has no bytes.
    expect(() => readRegularFile('/proc/self/environ', { links: 'follow', max_bytes: 3 })).toThrow(
      refused('is too large'),
    );
  });
});
