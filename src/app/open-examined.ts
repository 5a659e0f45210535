import { readSharedModes } from '#git/shared-modes.ts';
import { systemClock } from '#kernel/clock.ts';
import { type ForgeError, isForgeError } from '#kernel/errors.ts';
import { countTasks, nameFirst } from '#kernel/text.ts';
import type { OpenProject } from '#operations/operation.ts';
import { examineDatabase, rebuildStore as rebuild } from '#store/examine-database.ts';
import { explainPutBack } from '#store/store-location.ts';
import type { ProjectPaths } from '#sync/project-paths.ts';
import { holdWhileMending } from './hold-while-mending.ts';
import { VERSION } from './version.ts';

/** What `forge doctor` may do with the database before it looks at it. */
export interface Examining {
  readonly fix: boolean;
  readonly rebuild: boolean;
}

/** Told how many bytes of the replica are read, of how many. */
type RebuildMeter = (done: number, total: number) => void;
type Opened = OpenProject & AsyncDisposable;
type Places = Pick<ProjectPaths, 'store' | 'common_dir'>;

/**
 * Opens a project whose database may be wrong or too new: then the error is what there is to tell. With `rebuild` the
 * database is made anew first; with `fix` it is where tables or rows are not as they should be.
 */
export async function openExamined(
  { fix, rebuild }: Examining,
  {
    paths,
    open,
    notice,
    meter,
  }: {
    readonly paths: Places;
    readonly open: () => Promise<Opened>;
    readonly notice: (line: string) => void;
    readonly meter: RebuildMeter;
  },
): Promise<Opened | ForgeError> {
  if (rebuild || (fix && isWrong(paths))) await rebuildStore(paths, { notice, meter });
  try {
    return await open();
  } catch (error) {
    if (isForgeError(error) && (error.code === 'store_corrupt' || error.code === 'schema_newer'))
      return error;
    throw error;
  }
}

/** What cannot even be opened is set aside by opening the store. */
function isWrong(paths: Places): boolean {
  try {
    const { schema, missing, unreadable, integrity } = examineDatabase(paths.store);
    return schema.length + missing.length + unreadable.length + integrity.length > 0;
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return error.code === 'store_corrupt';
  }
}

async function rebuildStore(
  { store, common_dir }: Places,
  { notice, meter }: { readonly notice: (line: string) => void; readonly meter: RebuildMeter },
): Promise<void> {
  const { aside, tasks, kept, unread, lost } = await rebuild(store, {
    clock: systemClock,
    modes: () => readSharedModes(common_dir),
    hold: holdWhileMending,
    written_by: VERSION,
    notice,
    meter,
  });
  notice(`The task database was made anew from the local replica: ${countTasks(tasks)}`);
  if (kept.length > 0) notice(`Kept as its rows had them, and told the replica: ${nameFirst(kept)}`);
  if (unread !== undefined) notice(`As the replica has them, where it has: ${unread}`);
  if (lost.length > 0)
    notice(`Only in the database before it, because it cannot be read: ${nameFirst(lost)}. Keep that file`);
  if (aside === undefined) return;
  notice(`The database before it is kept. To put it back, ${explainPutBack(store, aside)}`);
}
