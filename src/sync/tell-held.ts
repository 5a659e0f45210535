import { BRANCH_FOLDER } from '#domain/attempt-names.ts';
import { escapeLine } from '#kernel/text.ts';
import type { Replication } from '#store/replication.ts';
import type { LeftOut } from './fold-files.ts';

/** So many tasks are named. */
const NAMED = 3;

/** Says once of every such change that it was left out, and how it gets in. */
export async function tellHeldOnce(
  store: Pick<Replication, 'readMarks' | 'saveMark'>,
  held: LeftOut | undefined,
  { now, tell }: { readonly now: number; readonly tell: ((line: string) => void) | undefined },
): Promise<void> {
  if (held === undefined || held.lines.length === 0) return;
  const path = `held:${held.key}`;
  if ((await store.readMarks([path])).length > 0) return;
  for (const line of describeHeld(held)) tell?.(line);
  const none = { size: 0, mtime: '0', ctime: '0', inode: '0', event_seq: null };
  await store.saveMark({ path, ...none, digest: held.key, looked_at: now });
}

export function describeHeld({
  attempts,
  lines,
  over,
}: Pick<LeftOut, 'attempts' | 'lines' | 'over'>): string[] {
  const ids = [...new Set(lines.map(({ text }) => /^\{"(?:id|task)":"([A-Za-z0-9._-]+)"/.exec(text)?.[1]))];
  const named = ids.flatMap((id) => id ?? []);
  const [first] = attempts;
  const whose =
    first === undefined
      ? 'an attempt'
      : attempts.length === 1
        ? `the attempt ${first}`
        : `the attempts ${attempts.join(', ')}`;
  const shown = named.slice(0, NAMED).join(', ');
  const more = named.length > NAMED ? ` and ${named.length - NAMED} more` : '';
  const what = shown === '' ? 'What the task files say' : `What the task files say of ${shown}${more}`;
  return [
    escapeLine(
      `${what} is of ${whose} and was not taken in: nobody has merged it. Merge the branch to take it, or say it yourself: forge task update <id>`,
    ),
    ...(over === undefined
      ? []
      : [
          `More than ${over} commits of attempts, or commits that build on them, changed the task files, so that lines of persons may be among these. They stay in the file as they are. Merge those branches, or delete them: git branch --list '${BRANCH_FOLDER}*'`,
        ]),
  ];
}
