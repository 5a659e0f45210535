import type { OutputOf } from '#contract/declare.ts';
import type { listConflicts } from '#contract/sync-operations.ts';
import { describeLife } from '#domain/describe-life.ts';
import type { Json } from '#kernel/json.ts';
import { escapeLine, escapeText } from '#kernel/text.ts';
import { isFileConflict, listFileConflicts } from '#sync/file-conflicts.ts';
import { implement } from './operation.ts';
import { readConflicts } from './read-conflicts.ts';

const SHOWN = 60;
const TITLES = { workflow: 'The workflow of the project', config: 'The config of the project' } as const;

export const conflictList = implement<typeof listConflicts>({
  async run(ctx, { id }) {
    const { store, paths } = ctx.project;
    const ofFiles = listFileConflicts(paths)
      .filter((one) => id === undefined || one.id === id)
      .map((one) => ({ ...one, title: TITLES[one.id] }));
    if (isFileConflict(id)) return ofFiles;
    if (id !== undefined) return store.listConflicts(id);
    const { entries, isCut } = await readConflicts(store, ctx);
    return [...entries, ...ofFiles, ...(isCut ? [toMore(entries.length)] : [])];
  },
  text(conflicts) {
    if (conflicts.length === 0) return 'No value lost a merge';
    const whole = new Set(conflicts.map(({ id }) => id)).size === 1;
    return conflicts
      .map(({ id, title, name, key, lost, stands, at }) => {
        const show = (value: unknown): string => {
          const text = (name === 'life' ? describeLife(value as Json) : undefined) ?? toText(value);
          return whole ? escapeText(text) : cut(escapeLine(text));
        };
        const label = escapeLine(nameValue(name));
        const head = `${id}  ${escapeLine(title)}`;
        if (name === MORE) return escapeLine(title);
        if (name === 'deleted')
          return `${head}\n  deleted ${at} and edited after that; to have it back: forge task restore ${id}`;
        const next = isFileConflict(id)
          ? `\n  whole: git show ${escapeLine(key)}; to settle it: forge resolve ${id}`
          : '';
        return `${head}\n  ${label} stands: ${show(stands)}\n  ${label} lost (${at}): ${show(lost)}${next}`;
      })
      .join('\n');
  },
});

/** The name of the entry that says that there are more. */
export const MORE = 'more';

function toMore(shown: number): OutputOf<typeof listConflicts>[number] {
  const title = `A server shows ${shown.toLocaleString('en')} values, and there are more: all are listed in the repository, without --server`;
  return { id: '', title, name: MORE, key: MORE, lost: null, stands: null, at: '' };
}

/** What people call a value that lost: status, state and owner go together. */
export function nameValue(name: string): string {
  return name === 'life' ? 'status' : name;
}

function toText(value: unknown): string {
  if (value === null) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function cut(text: string): string {
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN - 1)}…`;
}
