import { createPlaceMap, type PlaceMap } from './place-map.ts';

/** A text from which parts are left out or replaced, from its beginning to its end. */
export interface PlainText {
  /** What stands from `from` to `to` is left out, or is one letter or several. */
  readonly replace: (from: number, to: number, letter?: string) => void;
  /** Leaves out what stands from `at` to `to`, and so many letters of the same line before it. */
  readonly overwrite: (at: number, to: number, count: number) => void;
  /** Undefined where nothing was replaced. */
  readonly finish: () => { readonly text: string; readonly map: PlaceMap } | undefined;
}

export function createPlainText(text: string): PlainText {
  const parts: string[] = [];
  const map = createPlaceMap();
  let kept = 0;
  const replace = (from: number, to: number, letter = ''): void => {
    if (from > kept) parts.push(text.slice(kept, from));
    if (letter !== '') parts.push(letter);
    map.add({ kept: from - kept, from, to, letters: letter.length });
    kept = to;
  };
  /** As it was before the last change, if this has no more letters than are to go; gives how many are left to go. */
  const takeBack = (left: number): { readonly from: number; readonly left: number } | undefined => {
    const last = map.last();
    if (last === undefined || last.letters > left) return undefined;
    if (last.letters > 0 && parts.at(-1)?.includes('\n') === true) return undefined;
    if (last.letters > 0) parts.pop();
    if (last.from > last.begin) parts.pop();
    map.drop();
    kept = last.begin;
    return { from: last.from, left: left - last.letters };
  };
  return {
    replace,
    overwrite(at, to, count) {
      let from = at;
      let left = count;
      for (;;) {
        while (left > 0 && from > kept && text[from - 1] !== '\n') {
          from -= 1;
          left -= 1;
        }
        const before = left > 0 && from === kept ? takeBack(left) : undefined;
        if (before === undefined) break;
        ({ from, left } = before);
      }
      replace(from, to);
    },
    finish() {
      if (kept === 0) return undefined;
      parts.push(text.slice(kept));
      return { text: parts.join(''), map };
    },
  };
}
