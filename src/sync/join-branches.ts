import type { GitRepo } from '#git/ask-git.ts';
import { listBranchFiles } from '#git/branch-files.ts';
import { openBlobReader } from '#git/read-blob.ts';
import { systemActor } from '#domain/actor.ts';
import type { Writer } from '#store/store.ts';
import type { FileLine, FoldReport, Replication } from '#store/replication.ts';
import { describeUnreadable } from './describe-fold.ts';
import { foldText, type FindByHand } from './fold-files.ts';
import { toTextFold, withoutHeld } from './fold-request.ts';
import { type AttemptLister, findHeldAt, type HeldLines } from './held-lines.ts';
import { tellHeldOnce } from './tell-held.ts';
import { findTakenBack } from './find-taken-back.ts';
import { splitText } from './read-file-lines.ts';
import { findSeenHereOrThere, type FindSeen } from './seen-in-history.ts';
import { HISTORY_PATH, TASKS_PATH } from './task-files.ts';

type Tell = (line: string) => void;

export interface JoinedBranch {
  /** In full: `refs/remotes/origin/main`. */
  readonly ref: string;
  readonly report: FoldReport;
}

/**
 * Joins in the task files of every branch of the remote that this clone has fetched. Branches with the same file count
 * once, and one that was joined before is not read again. `pulled` is joined first, so that the others are left with
 * what a pull does not bring.
 */
export async function joinBranches(
  store: Replication & AttemptLister,
  repo: GitRepo,
  {
    remote,
    pulled,
    by,
    tell,
  }: {
    readonly remote: string;
    readonly pulled?: string | undefined;
    readonly by: Writer;
    readonly tell?: Tell | undefined;
  },
): Promise<JoinedBranch[]> {
  const writer = { actor: systemActor('fold'), now: by.now };
  const joined: JoinedBranch[] = [];
  const held = new Map<string, { readonly lines: FileLine[]; readonly by: HeldLines }>();
  await using reader = openBlobReader(repo);
  for (const path of [HISTORY_PATH, TASKS_PATH]) {
    for (const { key, blob, ref } of await listNew(store, repo, { remote, pulled, path })) {
      const bytes = await reader.readObject(blob);
      if (bytes === undefined) continue;
      const lines = [...splitText(bytes.toString('utf8'))];
      // What is checked out was read before: its commits make no edit once more.
      const searched = { repo, revs: [ref], looked: { at: by.now } };
      const findByHand: FindByHand = (back) => findTakenBack(back, searched);
      const agents = await findHeldAt(store, repo, ref);
      const left: FileLine[] = [];
      const request = withoutHeld(toTextFold(key, lines, { digest: blob, now: by.now }), {
        held: agents,
        path,
        left,
      });
      let unreadable: FoldReport['unreadable'];
      if (path === HISTORY_PATH) ({ unreadable } = await store.foldHistory(request, writer));
      else {
        const findSeen: FindSeen = (values) => findSeenHereOrThere(values, { repo, rev: ref });
        const report = await foldText(
          store,
          { ...request, elsewhere: true },
          { ...writer, findByHand, findSeen },
        );
        joined.push({ ref, report });
        ({ unreadable } = report);
      }
      if (agents !== undefined && left.length > 0) {
        const before = held.get(agents.key)?.lines ?? [];
        held.set(agents.key, { by: agents, lines: [...before, ...left] });
      }
      const name = `${ref.replace(/^refs\/remotes\//, '')}:${path}`;
      for (const line of describeUnreadable(name, unreadable)) tell?.(line);
    }
  }
  for (const { by: agents, lines } of held.values())
    await tellHeldOnce(store, { ...agents, lines }, { now: by.now, tell });
  return joined;
}

/** One entry for each content that no branch was joined with when it was last looked at. */
async function listNew(
  store: Replication,
  repo: GitRepo,
  {
    remote,
    pulled,
    path,
  }: { readonly remote: string; readonly pulled: string | undefined; readonly path: string },
): Promise<readonly { readonly key: string; readonly blob: string; readonly ref: string }[]> {
  const files = await listBranchFiles(repo, [`refs/remotes/${remote}/`], path);
  const toKey = (ref: string): string => `git:${ref}:${path}`;
  const marks = await store.readMarks(files.map(({ ref }) => toKey(ref)));
  const known = new Set(marks.map(({ digest }) => digest));
  const fresh = new Map<string, string>();
  const sorted = [...files.filter(({ ref }) => ref === pulled), ...files];
  for (const { ref, blob } of sorted) if (!known.has(blob) && !fresh.has(blob)) fresh.set(blob, ref);
  return [...fresh].map(([blob, ref]) => ({ key: toKey(ref), blob, ref }));
}
