import { isForgeError } from '#kernel/errors.ts';

/** As often as one commit is tried. */
const TRIES = 60;

/**
 * What others commit in between is joined in, and not written over. `commit` joins in what the branch has, and commits on
 * top of that alone; where the branch is elsewhere by then (version_conflict) it is tried again.
 */
export async function commitOnTop<T>(commit: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await commit();
    } catch (error) {
      if (tries === TRIES || !isForgeError(error) || error.code !== 'version_conflict') throw error;
    }
  }
}
