import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { FolderSizes } from './folder-sizes.ts';

describe('[L12] sizes of folders', () => {
  it('are measured once for all who ask within a moment, and again after it', async () => {
    const walked: string[] = [];
    const sizes = new FolderSizes(async (path) => walked.push(path));
    const together = [sizes.read('/a', 0), sizes.read('/a', 1), sizes.read('/b', 1)];
    expect(await Promise.all(together)).toEqual([1, 1, 2]);
    expect(await sizes.read('/a', LIMITS.folder_size_told_ms - 1)).toBe(1);
    expect(await sizes.read('/a', LIMITS.folder_size_told_ms)).toBe(3);
    expect(walked).toEqual(['/a', '/b', '/a']);
  });
});
