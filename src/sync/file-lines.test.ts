import { chmodSync, existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { addLines, removeLines, toMissingLines } from './file-lines.ts';

const LINES = ['.forge/forge.db', '.forge/forge.db-shm', '.forge/forge.db-wal'];
const ALL = LINES.map((line) => `${line}\n`).join('');
const CRLF = ALL.replaceAll('\n', '\r\n');
const remember = (): void => undefined;

describe('toMissingLines', () => {
  it.each([
    ['', ALL],
    ['node_modules\n', ALL],
    ['node_modules', `\n${ALL}`],
    ['a\r\nb\r\n', CRLF],
    ['a\r\nb', `\r\n${CRLF}`],
    [ALL, ''],
    [`x\n${ALL}y\n`, ''],
    [CRLF, ''],
    [ALL.trimEnd(), ''],
    ['.forge/forge.db  \n', '.forge/forge.db-shm\n.forge/forge.db-wal\n'],
    ['.forge/forge.db-wal\n.forge/forge.db\n', '.forge/forge.db-shm\n'],
    ['# .forge/forge.db\n!.forge/forge.db\nx.forge/forge.db\n.forge/forge.db/\n', ALL],
  ])('adds to %j what it lacks', (content, added) => {
    expect(toMissingLines(content, LINES)).toBe(added);
    expect(toMissingLines(content + added, LINES)).toBe('');
  });
});

describe('addLines', () => {
  it('keeps other bytes and the mode, and can take itself back', async () => {
    await using folder = await tempFolder();
    const file = join(folder.path, '.gitignore');
    const before = Buffer.from([0x23, 0xff, 0xfe, 0xc3, 0x0a, 0x61]); // not UTF-8, no newline at the end
    writeFileSync(file, before);
    chmodSync(file, 0o640);
    const undo: (() => void)[] = [];
    addLines(file, LINES, { undo, remember });
    expect(readFileSync(file)).toEqual(Buffer.concat([before, Buffer.from(`\n${ALL}`)]));
    expect(statSync(file).mode & 0o777).toBe(0o640);
    addLines(file, LINES, { undo: [], remember });
    expect(readFileSync(file)).toHaveLength(before.length + 1 + ALL.length);
    for (const step of undo) step();
    expect(readFileSync(file)).toEqual(before);
  });

  it('removes a file that it made, and survives one that is gone', async () => {
    await using folder = await tempFolder();
    const file = join(folder.path, '.gitignore');
    const undo: (() => void)[] = [];
    addLines(file, LINES, { undo, remember });
    expect(readFileSync(file, 'utf8')).toBe(ALL);
    for (const step of undo) step();
    expect(() => statSync(file)).toThrow('ENOENT');
    addLines(file, LINES, { undo, remember });
    rmSync(file);
    for (const step of undo) expect(step).not.toThrow();
  });

  it('tells what will be there before it is', async () => {
    await using folder = await tempFolder();
    const file = join(folder.path, '.gitignore');
    const told: unknown[] = [];
    const tell = (added: unknown): void => void told.push([added, existsSync(file)]);
    addLines(file, LINES, { undo: [], remember: tell });
    addLines(file, LINES, { undo: [], remember: tell });
    expect(told).toEqual([[{ existing: false, length: 0, added: ALL }, false]]);
  });

  it('leaves a file alone that somebody edited since', async () => {
    await using folder = await tempFolder();
    const file = join(folder.path, '.gitignore');
    const undo: (() => void)[] = [];
    addLines(file, LINES, { undo, remember });
    writeFileSync(file, `${ALL}mine\n`);
    for (const step of undo) step();
    expect(readFileSync(file, 'utf8')).toBe(`${ALL}mine\n`);
  });
});

describe('removeLines', () => {
  it.each([
    [`a\n${ALL}`, 'a\n'],
    [`a\r\n${CRLF}b\r\n`, 'a\r\nb\r\n'],
    [`.forge/forge.db-wal\na\n.forge/forge.db \n\nb`, 'a\n\nb'],
    [`a\n${ALL.trimEnd()}`, 'a\n'],
    ['# .forge/forge.db\n', '# .forge/forge.db\n'],
    ['\n', '\n'],
  ])('leaves of %j the other lines', async (content, left) => {
    await using folder = await tempFolder();
    const file = join(folder.path, 'lines');
    writeFileSync(file, content);
    expect(removeLines(file, LINES)).toBe(content !== left);
    expect(readFileSync(file, 'utf8')).toBe(left);
    expect(removeLines(file, LINES)).toBe(false);
  });

  it('gives back the bytes and the mode from before addLines', async () => {
    await using folder = await tempFolder();
    const file = join(folder.path, 'lines');
    const before = Buffer.from([0x23, 0xff, 0xfe, 0xc3, 0x0a]);
    writeFileSync(file, before);
    chmodSync(file, 0o604);
    addLines(file, LINES, { undo: [], remember });
    expect(removeLines(file, LINES)).toBe(true);
    expect(readFileSync(file)).toEqual(before);
    expect(statSync(file).mode & 0o777).toBe(0o604);
  });

  it('removes a file with nothing else in it, knows one that is not there, and leaves a link alone', async () => {
    await using folder = await tempFolder();
    const file = join(folder.path, 'lines');
    addLines(file, LINES, { undo: [], remember });
    const link = join(folder.path, 'link');
    symlinkSync('lines', link);
    expect(removeLines(link, LINES)).toBe(false);
    expect(readFileSync(file, 'utf8')).toBe(ALL);
    expect(removeLines(file, LINES)).toBe(true);
    expect(() => statSync(file)).toThrow('ENOENT');
    expect(removeLines(file, LINES)).toBe(false);
  });
});
