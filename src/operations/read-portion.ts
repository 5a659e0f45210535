import type { ListPage } from '#store/list-pages.ts';
import type { Portion } from './operation.ts';

/** Rows of a list: all of them, or what fits into a portion, whose caller is told where the list goes on. */
export async function readPortion<T>(
  portion: Portion | undefined,
  list: { readonly all: () => Promise<T[]>; readonly page: (max_bytes: number) => Promise<ListPage<T>> },
): Promise<T[]> {
  if (portion === undefined) return list.all();
  const { tasks, after } = await list.page(portion.max_bytes);
  if (after !== undefined) portion.goesOn(after);
  return tasks;
}
