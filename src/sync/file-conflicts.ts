import { join } from 'node:path';
import { readPlainFile } from '#git/read-plain-file.ts';
import { ForgeError } from '#kernel/errors.ts';
import { replaceFile } from './place-file.ts';
import type { ProjectPaths } from './project-paths.ts';

/**
 * What lost a join of the workflow or the config, until somebody settles it. Beside the database, because it is about
 * this clone's last exchange; every version that took part is in the history of the data branch.
 */
export interface FileConflict {
  readonly id: 'workflow' | 'config';
  /** `workflow`, or a key of the config. */
  readonly name: string;
  /** Where git has the version that lost: `4f1c09a:.forge/workflow.json`. */
  readonly key: string;
  readonly lost: unknown;
  readonly stands: unknown;
  readonly at: string;
}

type Place = Pick<ProjectPaths, 'store_dir'>;

/** The last one of a name counts. */
export function noteFileConflicts(place: Place, conflicts: readonly FileConflict[]): void {
  if (conflicts.length === 0) return;
  const isNew = ({ id, name }: FileConflict): boolean =>
    !conflicts.some((one) => one.id === id && one.name === name);
  write(place, [...listFileConflicts(place).filter(isNew), ...conflicts]);
}

/** A list that cannot be read is no reason to show nothing else. */
export function listFileConflicts(place: Place): FileConflict[] {
  try {
    const list: unknown = JSON.parse(readPlainFile(toPath(place))?.toString('utf8') ?? '');
    return Array.isArray(list) ? (list as FileConflict[]) : []; // as write() left it
  } catch {
    return [];
  }
}

export function isFileConflict(id: string | undefined): id is FileConflict['id'] {
  return id === 'workflow' || id === 'config';
}

/** What stands stays. Throws not_found where there is nothing to settle. */
export function settleFileConflicts(
  place: Place,
  { id, field }: { readonly id: FileConflict['id']; readonly field: string | undefined },
): { id: string; settled: string[]; left: number } {
  const all = listFileConflicts(place);
  const isMeant = (one: FileConflict): boolean =>
    one.id === id && (field === undefined || one.name === field);
  const settled = all.filter(isMeant).map(({ name }) => name);
  if (settled.length === 0)
    throw new ForgeError('not_found', `Nothing of the ${id} lost a merge`, {
      hint: 'forge conflicts',
      details: { id },
    });
  const rest = all.filter((one) => !isMeant(one));
  write(place, rest);
  return { id, settled, left: rest.filter((one) => one.id === id).length };
}

function write(place: Place, conflicts: readonly FileConflict[]): void {
  replaceFile(toPath(place), `${JSON.stringify(conflicts, null, 2)}\n`);
}

function toPath({ store_dir }: Place): string {
  return join(store_dir, 'conflicts.json');
}
