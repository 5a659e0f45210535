import { join } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { toStoreFiles } from '#store/store-location.ts';
import type { FoundProject } from '#sync/find-project.ts';

/**
 * Which store the ids of each prefix are of, as long as a server runs. A commit that is pulled can change the prefix
 * in a project's config; the tokens that are for a prefix must not lead to another project by that.
 */
export class ProjectIdentities {
  /** Stores by the prefixes they were opened with. */
  readonly #stores = new Map<string, { readonly store_id: string; readonly database: string }>();

  /** The prefix that this store was opened with. */
  prefixOf(storeId: string): string | undefined {
    for (const [prefix, { store_id }] of this.#stores) if (store_id === storeId) return prefix;
    return undefined;
  }

  /**
   * What is wrong with serving this project under the prefix of its config; undefined where nothing is. Not for a
   * project that the person registered with this prefix: it may have it.
   */
  findFault(found: FoundProject, storeId: string): ForgeError | undefined {
    const { config } = found;
    const own = this.prefixOf(storeId);
    if (own !== undefined && own !== config.idPrefix) return tellChanged(found, own);
    const holder = this.#stores.get(config.idPrefix);
    if (holder === undefined || holder.store_id === storeId) return undefined;
    return tellTaken(found, `of the project with the database ${holder.database}`);
  }

  /** To be called once the project is open. */
  hold({ paths, config }: FoundProject, storeId: string): void {
    const before = this.prefixOf(storeId);
    if (before !== undefined) this.#stores.delete(before);
    const { database } = toStoreFiles(paths.store);
    this.#stores.set(config.idPrefix, { store_id: storeId, database });
  }
}

function tellChanged({ paths, config }: FoundProject, own: string): ForgeError {
  const file = join(paths.root, '.forge', 'config.json');
  return new ForgeError(
    'invalid_input',
    `${file} says that ids begin with ${config.idPrefix}-, and this server serves that project with ${own}-`,
    {
      hint: `Set idPrefix to ${own} again, or register the project with its new prefix: forge project add <name> ${JSON.stringify(paths.root)}`,
      details: { path: file, prefix: own },
    },
  );
}

/** For a project that is left out; `whose` completes "ids that begin with fg- are those …". */
export function tellTaken({ paths, config }: FoundProject, whose: string): ForgeError {
  return new ForgeError(
    'already_exists',
    `${paths.root} is left out: ids that begin with ${config.idPrefix}- are those ${whose}`,
    {
      hint: `To serve it alone: forge serve --project ${JSON.stringify(paths.root)}; else give it another idPrefix`,
      details: { path: paths.root, prefix: config.idPrefix },
    },
  );
}
