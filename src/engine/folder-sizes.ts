import { LIMITS } from '#kernel/limits.ts';
import { measureFolder } from './measure-folder.ts';

interface Known {
  readonly at: number;
  readonly size: Promise<number>;
}

/**
 * Sizes of folders for a process that is asked again and again: those who ask at the same time wait for one walk, and
 * what was measured a moment ago is not measured again.
 */
export class FolderSizes {
  readonly #known = new Map<string, Known>();
  readonly #measure: (path: string) => Promise<number>;

  constructor(measure: (path: string) => Promise<number> = measureFolder) {
    this.#measure = measure;
  }

  /** `now` is in milliseconds of any clock that does not go back. */
  read(path: string, now: number): Promise<number> {
    const known = this.#known.get(path);
    if (known !== undefined && now - known.at < LIMITS.folder_size_told_ms) return known.size;
    for (const [other, { at }] of this.#known)
      if (now - at >= LIMITS.folder_size_told_ms) this.#known.delete(other);
    const size = this.#measure(path);
    this.#known.set(path, { at: now, size });
    return size;
  }
}
