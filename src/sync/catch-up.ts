import type { SyncStore } from '#store/sync-store.ts';
import { isUnchanged, statFile } from './file-changes.ts';
import type { FoldedFiles } from './fold-files.ts';
import { toTaskFiles } from './task-files.ts';
import type { ProjectPaths } from './project-paths.ts';

/**
 * Joins what changed in the task files since the store last saw them. Every command begins here; with nothing changed
 * it costs two looks at the disk and two at the database, and loads nothing.
 */
export async function catchUpWithFiles(
  store: SyncStore,
  paths: ProjectPaths,
  tell: { readonly clock: () => number; readonly notice: (line: string) => void },
): Promise<FoldedFiles> {
  const files = toTaskFiles(paths);
  const marks = await store.readMarks([files.tasks, files.history]);
  const changed = [files.tasks, files.history].some((path) => {
    const stats = statFile(path);
    return (
      stats !== undefined &&
      !isUnchanged(
        stats,
        marks.find((mark) => mark.path === path),
      )
    );
  });
  if (!changed) return { tasks: undefined, history: undefined };
  const { foldFiles } = await import('./fold-files.ts');
  const { describeFold } = await import('./describe-fold.ts');
  const folded = await foldFiles(store, files, {
    actor: { kind: 'system', name: 'fold', named: true },
    now: tell.clock(),
    clock: tell.clock,
  });
  for (const line of describeFold(folded)) tell.notice(line);
  return folded;
}
