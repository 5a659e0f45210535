import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { FolderSizes } from './folder-sizes.ts';

describe('[L12] sizes of folders', () => {
  it('are measured once for all who ask within a moment, and again after it', async () => {
    const walked: string[] = [];
    const sizes = new FolderSizes(async (path) => walked.push(path));
    const began = 5 * LIMITS.folder_size_told_ms;
    const together = [sizes.read('/a', began), sizes.read('/a', began + 1), sizes.read('/b', began + 1)];
    expect(await Promise.all(together)).toEqual([1, 1, 2]);
    expect(await sizes.read('/a', began + LIMITS.folder_size_told_ms - 1)).toBe(1);
    expect(await sizes.read('/a', began + LIMITS.folder_size_told_ms)).toBe(3);
    expect(walked).toEqual(['/a', '/b', '/a']);
  });

  it('are waited for by all who ask while a walk goes on, however long it takes', async () => {
    const walks: ((size: number) => void)[] = [];
    const sizes = new FolderSizes(() => new Promise((done) => walks.push(done)));
    const asked = [0, 1, 2].map((at) => sizes.read('/a', at * LIMITS.folder_size_told_ms));
    expect(walks).toHaveLength(1);
    walks[0]?.(7);
    expect(await Promise.all(asked)).toEqual([7, 7, 7]);
    const again = sizes.read('/a', 3 * LIMITS.folder_size_told_ms);
    walks[1]?.(8);
    expect(await again).toBe(8);
  });
});
