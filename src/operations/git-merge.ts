import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { mergeTaskFiles as declaration } from '#contract/sync-operations.ts';
import { ForgeError } from '#kernel/errors.ts';
import { toFileError } from '#sync/file-error.ts';
import type { ChangedBack } from '#sync/find-changed-back.ts';
import { toGitRepo } from '#sync/machine.ts';
import { mergeHistoryFiles, mergeTaskFiles } from '#sync/merge-task-files.ts';
import { replaceFileFrom } from '#sync/place-file.ts';
import { findRepositoryPaths } from '#sync/repository-paths.ts';
import { implement } from './operation.ts';

export const gitMerge = implement<typeof declaration>({
  async run(ctx, input) {
    const read = (path: string): string => {
      try {
        return readFileSync(resolve(ctx.cwd, path), 'utf8');
      } catch (error) {
        throw toFileError(error, `Could not read ${path}`);
      }
    };
    const [ours, theirs] = [read(input.ours), read(input.theirs)];
    if ([ours, theirs].some(isPointer)) throw noTaskFile(input.path ?? input.ours);
    const before = read(input.base);
    const base = isPointer(before) ? '' : before;
    const isHistory = input.path?.endsWith('history.jsonl') === true;
    const paths = findRepositoryPaths(ctx.cwd);
    const { env } = ctx.machine;
    const strange = async (): Promise<ReadonlySet<string> | undefined> => {
      // Where branches are merged, and not commits, git says so, and what it compares with is an ancestor of both.
      if (paths === undefined || Object.keys(env).some((name) => name.startsWith('GITHEAD_')))
        return undefined;
      const { findStrange } = await import('#sync/strange-base.ts');
      return findStrange(toGitRepo(paths.root, { env }), { base, ours });
    };
    const changedBack = async (): Promise<ChangedBack | undefined> => {
      if (paths === undefined) return undefined;
      const { findChangedBack } = await import('#sync/find-changed-back.ts');
      return findChangedBack(toGitRepo(paths.root, { env }), { base, ours, theirs });
    };
    const merged = isHistory
      ? mergeHistoryFiles(ours, theirs)
      : mergeTaskFiles(base, ours, theirs, {
          now: ctx.clock.now(),
          strange: await strange(),
          changed_back: await changedBack(),
        });
    try {
      // Git's copy lies in the user's folder.
      const place = resolve(ctx.cwd, input.ours);
      replaceFileFrom(paths?.store_dir ?? dirname(place), place, merged.text);
    } catch (error) {
      throw toFileError(error, `Could not write ${input.ours}`);
    }
    return { lines: merged.lines, conflicts: merged.conflicts };
  },
  // Git shows what a driver says in the middle of its own lines.
  text: ({ conflicts }) =>
    conflicts === 0
      ? ''
      : `[forge] ${conflicts} value${conflicts === 1 ? '' : 's'} changed on both sides; the later stands, of two claims the first; see: forge conflicts`,
});

/** What Git LFS stores in the place of a file. */
function isPointer(text: string): boolean {
  return text.startsWith('version https://git-lfs.github.com/spec/');
}

/** Joined as lines, two pointers would be one that leads nowhere. Git keeps both sides in a conflict. */
function noTaskFile(path: string): ForgeError {
  return new ForgeError(
    'invalid_input',
    `${path} is a pointer of Git LFS in a commit, so that it was not merged`,
    {
      hint: `git checkout --ours -- ${path}; the other side: git show MERGE_HEAD:${path} | git lfs smudge > theirs.jsonl, then forge import theirs.jsonl`,
      details: { path },
    },
  );
}
