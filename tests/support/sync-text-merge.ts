/** A merge of three texts line by line, as git does it for a file without a driver. */
export interface TextMerge {
  readonly text: string;
  readonly conflict: boolean;
}

/**
 * Changes of one side stand; where both sides changed the same or neighbouring lines, both stand between git's
 * conflict markers.
 */
export function mergeLineByLine(base: string, ours: string, theirs: string): TextMerge {
  const [old, a, b] = [base, ours, theirs].map(toLines) as [string[], string[], string[]];
  const inA = matchLines(old, a);
  const inB = matchLines(old, b);
  const merged: string[] = [];
  let conflict = false;
  let at = { old: 0, a: 0, b: 0 };
  for (let line = 0; line <= old.length; line += 1) {
    const end = line === old.length;
    const nextA = end ? a.length : inA.get(line);
    const nextB = end ? b.length : inB.get(line);
    if (nextA === undefined || nextB === undefined) continue;
    const piece = mergePiece(old.slice(at.old, line), a.slice(at.a, nextA), b.slice(at.b, nextB));
    merged.push(...piece.lines);
    conflict ||= piece.conflict;
    if (!end) merged.push(old[line] ?? '');
    at = { old: line + 1, a: nextA + 1, b: nextB + 1 };
  }
  return { text: merged.length === 0 ? '' : `${merged.join('\n')}\n`, conflict };
}

function mergePiece(
  old: readonly string[],
  ours: readonly string[],
  theirs: readonly string[],
): { lines: readonly string[]; conflict: boolean } {
  const same = (x: readonly string[], y: readonly string[]): boolean =>
    x.length === y.length && x.every((line, index) => line === y[index]);
  if (same(ours, theirs) || same(theirs, old)) return { lines: ours, conflict: false };
  if (same(ours, old)) return { lines: theirs, conflict: false };
  const lines = ['<<<<<<< ours', ...ours, '=======', ...theirs, '>>>>>>> theirs'];
  return { lines, conflict: true };
}

function toLines(text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

/** For lines of the first that are also in the second, in a longest common order: where they stand there. */
function matchLines(from: readonly string[], to: readonly string[]): Map<number, number> {
  const width = to.length + 1;
  const longest = new Uint32Array((from.length + 1) * width);
  const cell = (x: number, y: number): number => longest[x * width + y] ?? 0;
  for (let x = from.length - 1; x >= 0; x -= 1) {
    for (let y = to.length - 1; y >= 0; y -= 1) {
      longest[x * width + y] =
        from[x] === to[y] ? cell(x + 1, y + 1) + 1 : Math.max(cell(x + 1, y), cell(x, y + 1));
    }
  }
  const matches = new Map<number, number>();
  for (let x = 0, y = 0; x < from.length && y < to.length;) {
    if (from[x] === to[y]) {
      matches.set(x, y);
      x += 1;
      y += 1;
    } else if (cell(x + 1, y) >= cell(x, y + 1)) x += 1;
    else y += 1;
  }
  return matches;
}
