import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { listHomeFaults } from './examine-home.ts';
import { HOME_FILES, type HomeFileName } from './home-files.ts';
import { changeHomeFile, parseHomeLines, readHomeFile, toHomeText } from './home-file.ts';

describe('a file of the Forge home', () => {
  it('[S119] is made with its home, for its owner alone, and replaced whole', async () => {
    await using folder = await tempFolder();
    const home = join(folder.path, 'deep', 'home');
    expect(readHomeFile(home, 'settings.json')).toBeUndefined();
    const answer = await changeHomeFile(home, 'settings.json', (text) => ({ text: 'one', answer: text }));
    expect(answer).toBeUndefined();
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(statSync(join(home, 'settings.json')).mode & 0o777).toBe(0o600);
    expect(await changeHomeFile(home, 'settings.json', (text) => ({ text: 'two', answer: text }))).toBe(
      'one',
    );
    expect(readHomeFile(home, 'settings.json')).toBe('two');
    expect(readdirSync(home)).toEqual(['settings.json']);
  });

  it('is for its owner alone, with any umask and any former mode', async () => {
    await using folder = await tempFolder();
    const home = join(folder.path, 'home');
    for (const name of Object.keys(HOME_FILES) as HomeFileName[]) {
      await changeHomeFile(home, name, () => ({ text: 'one', answer: 0 }));
      expect(statSync(join(home, name)).mode & 0o777).toBe(0o600);
      chmodSync(join(home, name), 0o666);
      await changeHomeFile(home, name, () => ({ text: 'two', answer: 0 }));
      expect(statSync(join(home, name)).mode & 0o777).toBe(0o600);
    }
  });

  it('is left alone, and no home is made, when the change is refused or changes nothing', async () => {
    await using folder = await tempFolder();
    const home = join(folder.path, 'home');
    const refuse = (): never => {
      throw new Error('no');
    };
    await expect(changeHomeFile(home, 'settings.json', refuse)).rejects.toThrow('no');
    expect(existsSync(home)).toBe(false);
    await changeHomeFile(home, 'settings.json', () => ({ text: 'one', answer: 0 }));
    await expect(changeHomeFile(home, 'settings.json', refuse)).rejects.toThrow('no');
    const before = statSync(join(home, 'settings.json')).ino;
    await changeHomeFile(home, 'settings.json', (text) => ({ text: text ?? '', answer: 0 }));
    expect(statSync(join(home, 'settings.json')).ino).toBe(before);
    expect(readdirSync(home)).toEqual(['settings.json']);
  });

  it('is refused where it is a device or too large, by name and kind', async () => {
    await using folder = await tempFolder();
    symlinkSync('/dev/null', join(folder.path, 'trust.json'));
    expect(() => readHomeFile(folder.path, 'trust.json')).toThrow(
      `${join(folder.path, 'trust.json')} is not a regular file but a device`,
    );
    await folder.write('agents.jsonl', '');
    truncateSync(join(folder.path, 'agents.jsonl'), 67_108_865);
    expect(() => readHomeFile(folder.path, 'agents.jsonl')).toThrow('is too large');
    const change = changeHomeFile(folder.path, 'trust.json', () => ({ text: 'one', answer: 0 }));
    await expect(change).rejects.toThrow('a device');
    expect(listHomeFaults(folder.path).map(({ message }) => message)).toEqual([
      expect.stringContaining('agents.jsonl is too large'),
      expect.stringContaining('trust.json is not a regular file'),
    ]);
  });

  it('keeps a home that is there as it is, and a link to a file elsewhere a link', async () => {
    await using folder = await tempFolder();
    const home = join(folder.path, 'home');
    mkdirSync(home);
    chmodSync(home, 0o755);
    await folder.write('dotfiles/x', 'one');
    symlinkSync(join(folder.path, 'dotfiles', 'x'), join(home, 'settings.json'));
    await changeHomeFile(home, 'settings.json', (text) => ({ text: `${text} two`, answer: 0 }));
    expect(lstatSync(join(home, 'settings.json')).isSymbolicLink()).toBe(true);
    expect(await folder.read('dotfiles/x')).toBe('one two');
    expect(statSync(home).mode & 0o777).toBe(0o755);
  });

  it('loses nothing when twenty change it at once', async () => {
    await using folder = await tempFolder();
    const home = join(folder.path, 'home');
    const add = (n: number) =>
      changeHomeFile(home, 'settings.json', (text) => ({ text: `${text ?? ''}${n}\n`, answer: n }));
    await Promise.all(Array.from({ length: 20 }, (_, n) => add(n)));
    const lines = (readHomeFile(home, 'settings.json') ?? '').trim().split('\n').map(Number);
    expect(lines.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });

  it('says what is wrong with a place that cannot hold it', async () => {
    await using folder = await tempFolder();
    await folder.write('home', 'a file');
    const home = join(folder.path, 'home');
    await expect(
      changeHomeFile(home, 'settings.json', () => ({ text: 'a', answer: 0 })),
    ).rejects.toMatchObject({
      code: 'io_failed',
      message: expect.stringContaining(join(home, 'settings.json')) as string,
    });
  });
});

describe('lines of JSON', () => {
  it('stay byte for byte where nothing changes', () => {
    const text = '{"b": 1,   "a":2}\r\n\n{"__proto__":{"x":1}}\n';
    const lines = parseHomeLines(text, 'f');
    expect(toHomeText(lines)).toBe(text);
    expect(lines.map(({ value }) => value === undefined)).toEqual([false, true, false]);
    expect(JSON.stringify({ ...lines[2]?.value })).toBe('{"__proto__":{"x":1}}');
    expect(toHomeText(parseHomeLines('{"a":1}', 'f'))).toBe('{"a":1}\n');
    expect(parseHomeLines(undefined, 'f')).toEqual([]);
  });

  it.each([
    ['{"a":1}\nnot json\n', 'f, line 2, is not valid JSON', 'by hand'],
    ['[1]\n', 'f, line 1, does not hold a JSON object', 'by hand'],
    ['{"a":12345678901234567890}\n', 'f, line 1, holds the number', 'by hand'],
    ['{"a":1}\n<<<<<<< ours\n', 'f, line 2, is not valid JSON', 'merge conflict'],
  ])('refuse %j', (text, message, hint) => {
    expect(() => parseHomeLines(text, 'f')).toThrow(
      expect.objectContaining({
        code: 'invalid_input',
        message: expect.stringContaining(message) as string,
        hint: expect.stringContaining(hint) as string,
      }) as Error,
    );
  });
});
