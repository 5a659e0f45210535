/** Versions of a file that was in conflict; an empty text where a side does not have the file. */
export interface ConflictSides {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
  /** What git wrote for the merge, and how it named our side there. Without it the three sides have to do. */
  readonly written?: { readonly text: string; readonly label: string } | undefined;
}

/**
 * Whether a line of the conflict still stands in the text, as `git diff --check` sees one: seven of `<`, `|`, `=` or `>`
 * at the start of a line, then a blank or the end. Each counts by itself. A line that the sides themselves have (the
 * underline of a heading) is none of the conflict's, as often as a merge of the sides may have it.
 */
export function hasConflictLines(text: string, sides: ConflictSides): boolean {
  const { written } = sides;
  const begins = written === undefined ? [] : listBegins(written.text, written.label);
  const size = begins[0]?.length ?? USUAL_SIZE;
  const left = countMarkers(text, size);
  if (left.size === 0) return false;
  const [base, ours, theirs] = [sides.base, sides.ours, sides.theirs].map((side) => countMarkers(side, size));
  const separator = '='.repeat(size);
  for (const [line, count] of left) {
    const [inBase, inOurs, inTheirs] = [base, ours, theirs].map((lines) => lines?.get(line) ?? 0);
    // Git puts one separator into each conflict; its text has the other such lines as often as they may stand.
    const own =
      written !== undefined && line === separator
        ? (countMarkers(written.text, size).get(line) ?? 0) - begins.length
        : (inOurs ?? 0) + (inTheirs ?? 0) - (inBase ?? 0);
    if (count > Math.max(own, inOurs ?? 0, inTheirs ?? 0)) return true;
  }
  return false;
}

const USUAL_SIZE = 7;

/** The marks that begin a conflict, one a conflict: the attribute `conflict-marker-size` makes them longer or shorter. */
function listBegins(text: string, label: string): readonly string[] {
  return toLines(text).flatMap((line) => {
    const [marks = '', name] = line.split(' ', 2);
    return /^<+$/.test(marks) && name?.startsWith(label) === true ? [marks] : [];
  });
}

/** How often each line stands there that looks like a marker. */
function countMarkers(text: string, size: number): ReadonlyMap<string, number> {
  const pattern = new RegExp(`^([<|=>])\\1{${size - 1}}(?:\\s|$)`);
  const counts = new Map<string, number>();
  for (const line of toLines(text)) if (pattern.test(line)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

function toLines(text: string): readonly string[] {
  return text.split('\n').map((line) => line.trimEnd());
}
