import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { addIgnoreLines, toMissingLines } from './ignore-lines.ts';

const ALL = '.forge/forge.db\n.forge/forge.db-shm\n.forge/forge.db-wal\n';

describe('toMissingLines', () => {
  it.each([
    ['', ALL],
    ['node_modules\n', ALL],
    ['node_modules', `\n${ALL}`],
    ['a\r\nb\r\n', ALL.replaceAll('\n', '\r\n')],
    ['a\r\nb', `\r\n${ALL.replaceAll('\n', '\r\n')}`],
    [ALL, ''],
    [`x\n${ALL}y\n`, ''],
    [ALL.replaceAll('\n', '\r\n'), ''],
    [ALL.trimEnd(), ''],
    ['.forge/forge.db  \n', '.forge/forge.db-shm\n.forge/forge.db-wal\n'],
    ['.forge/forge.db-wal\n.forge/forge.db\n', '.forge/forge.db-shm\n'],
    ['# .forge/forge.db\n!.forge/forge.db\nx.forge/forge.db\n.forge/forge.db/\n', ALL],
  ])('adds to %j what it lacks', (content, added) => {
    expect(toMissingLines(content)).toBe(added);
    expect(toMissingLines(content + added)).toBe('');
  });
});

describe('addIgnoreLines', () => {
  it('keeps other bytes and the mode, and can take itself back', async () => {
    await using folder = await tempFolder();
    const file = join(folder.path, '.gitignore');
    const before = Buffer.from([0x23, 0xff, 0xfe, 0xc3, 0x0a, 0x61]); // not UTF-8, no newline at the end
    writeFileSync(file, before);
    chmodSync(file, 0o640);
    const undo: (() => void)[] = [];
    addIgnoreLines(file, undo);
    expect(readFileSync(file)).toEqual(Buffer.concat([before, Buffer.from(`\n${ALL}`)]));
    expect(statSync(file).mode & 0o777).toBe(0o640);
    addIgnoreLines(file, []);
    expect(readFileSync(file)).toHaveLength(before.length + 1 + ALL.length);
    for (const step of undo) step();
    expect(readFileSync(file)).toEqual(before);
  });

  it('removes a file that it made, and survives one that is gone', async () => {
    await using folder = await tempFolder();
    const file = join(folder.path, '.gitignore');
    const undo: (() => void)[] = [];
    addIgnoreLines(file, undo);
    expect(readFileSync(file, 'utf8')).toBe(ALL);
    for (const step of undo) step();
    expect(() => statSync(file)).toThrow('ENOENT');
    addIgnoreLines(file, undo);
    rmSync(file);
    for (const step of undo) expect(step).not.toThrow();
  });

  it('leaves a file alone that somebody edited since', async () => {
    await using folder = await tempFolder();
    const file = join(folder.path, '.gitignore');
    const undo: (() => void)[] = [];
    addIgnoreLines(file, undo);
    writeFileSync(file, `${ALL}mine\n`);
    for (const step of undo) step();
    expect(readFileSync(file, 'utf8')).toBe(`${ALL}mine\n`);
  });
});
