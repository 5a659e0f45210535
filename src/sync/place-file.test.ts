import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { replaceFile, replaceFileFrom, stageFile } from './place-file.ts';

describe('replaceFile', () => {
  it('writes a new file and replaces an old one, leaving nothing beside it', async () => {
    await using folder = await tempFolder();
    const file = join(folder.path, 'a.json');
    replaceFile(file, 'one');
    replaceFile(file, new Uint8Array([0xff, 0]));
    expect(readFileSync(file)).toEqual(Buffer.from([0xff, 0]));
    expect(readdirSync(folder.path)).toEqual(['a.json']);
  });

  it('leaves nothing behind when the place cannot be taken', async () => {
    await using folder = await tempFolder();
    mkdirSync(join(folder.path, 'a.json', 'x'), { recursive: true });
    expect(() => replaceFile(join(folder.path, 'a.json'), 'one')).toThrow(/rename/);
    expect(() => replaceFile(join(folder.path, 'none', 'a.json'), 'one')).toThrow('ENOENT');
    expect(readdirSync(folder.path)).toEqual(['a.json']);
  });
});

describe('replaceFileFrom', () => {
  it('prepares elsewhere, and beside the place where that cannot be done', async () => {
    await using folder = await tempFolder();
    const file = join(folder.path, 'a.json');
    const workshop = join(folder.path, 'workshop');
    mkdirSync(workshop);
    replaceFileFrom(workshop, file, 'one');
    expect(readFileSync(file, 'utf8')).toBe('one');
    replaceFileFrom(join(folder.path, 'nowhere'), file, 'two');
    expect(readFileSync(file, 'utf8')).toBe('two');
    mkdirSync(join(folder.path, 'b.json', 'x'), { recursive: true });
    expect(() => replaceFileFrom(workshop, join(folder.path, 'b.json'), 'three')).toThrow(/rename/);
    expect(readdirSync(folder.path).sort()).toEqual(['a.json', 'b.json', 'workshop']);
    expect(readdirSync(workshop)).toEqual([]);
  });
});

describe('stageFile', () => {
  it('shows nothing before publish, the whole file after it', async () => {
    await using folder = await tempFolder();
    const file = join(folder.path, 'a.json');
    const staged = stageFile(file, 'one');
    expect(readdirSync(folder.path)).not.toContain('a.json');
    staged.publish();
    staged.discard();
    expect(readFileSync(file, 'utf8')).toBe('one');
    expect(readdirSync(folder.path)).toEqual(['a.json']);
  });

  it('never replaces what is there', async () => {
    await using folder = await tempFolder();
    const file = join(folder.path, 'a.json');
    const staged = stageFile(file, 'mine');
    writeFileSync(file, 'theirs');
    expect(() => staged.publish()).toThrow('EEXIST');
    staged.discard();
    expect(readFileSync(file, 'utf8')).toBe('theirs');
    expect(readdirSync(folder.path)).toEqual(['a.json']);
  });
});
