import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { isUnchanged, refuseLinkedFolder, statFile, toMark } from './file-changes.ts';

describe('a task file', () => {
  it('is a plain file below plain folders; a link leads to what is not ours to publish', async () => {
    await using folder = await tempFolder();
    const secret = join(folder.path, 'secret');
    writeFileSync(secret, 'my key\n');
    mkdirSync(join(folder.path, '.forge'));
    const file = join(folder.path, '.forge', 'tasks.jsonl');
    expect(statFile(file)).toBeUndefined();
    symlinkSync(secret, file);
    expect(statFile(file)).toBeUndefined();
    const real = join(folder.path, 'real');
    mkdirSync(real);
    writeFileSync(join(real, 'tasks.jsonl'), '{}\n');
    expect(statFile(join(real, 'tasks.jsonl'))?.size).toBe(3n);
    symlinkSync(real, join(folder.path, 'linked'));
    expect(statFile(join(folder.path, 'linked', 'tasks.jsonl'))).toBeUndefined();
    expect(() => refuseLinkedFolder(join(folder.path, 'linked'))).toThrow('symbolic link');
    expect(() => refuseLinkedFolder(real)).not.toThrow();
  });

  it('is not trusted to be unchanged when it was looked at in the moment of its change', async () => {
    await using folder = await tempFolder();
    const file = join(folder.path, 'tasks.jsonl');
    writeFileSync(file, 'a\n');
    const stats = statFile(file);
    if (stats === undefined) throw new Error('the file is there');
    const changed = Number(stats.mtimeMs);
    const marked = (looked_at: number) => ({
      ...toMark(file, stats, { digest: 'x', looked_at }),
      event_seq: null,
    });
    expect(isUnchanged(stats, marked(changed + 10))).toBe(false);
    expect(isUnchanged(stats, marked(changed + 1_000))).toBe(true);
    expect(isUnchanged(stats, undefined)).toBe(false);
    expect(isUnchanged(stats, { ...marked(changed + 1_000), size: 3 })).toBe(false);
    expect(isUnchanged(stats, { ...marked(changed + 1_000), ctime: '1' })).toBe(false);
  });
});
