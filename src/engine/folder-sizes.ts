import { LIMITS } from '#kernel/limits.ts';
import { measureFolder } from './measure-folder.ts';

interface Known {
  readonly at: number;
  readonly size: Promise<number>;
  isWalked: boolean;
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
    if (known !== undefined && !isOver(known, now)) return known.size;
    for (const [other, one] of this.#known) if (isOver(one, now)) this.#known.delete(other);
    const walk: Known = {
      at: now,
      size: this.#measure(path).finally(() => (walk.isWalked = true)),
      isWalked: false,
    };
    this.#known.set(path, walk);
    return walk.size;
  }
}

/** A walk that takes long is not joined by a second one, which would take as long. */
function isOver({ at, isWalked }: Known, now: number): boolean {
  return isWalked && now - at >= LIMITS.folder_size_told_ms;
}
