/**
 * `a{b,c}d` as `abd` and `acd`, one inside of the other too. A group without a comma, or that is never closed, stands for
 * itself, and so does `${`. Undefined where there would be more than `most`, or where `{1..3}` asks for a range.
 */
export function expandBraces(text: string, most: number): readonly string[] | undefined {
  let ways: readonly string[] = [''];
  for (let at = 0; at < text.length;) {
    const end = text[at] === '{' && text[at - 1] !== '$' ? findEnd(text, at) : -1;
    if (end === -1) {
      const rest = text.indexOf('{', at + 1);
      const plain = text.slice(at, rest === -1 ? text.length : rest);
      ways = ways.map((way) => way + plain);
      at += plain.length;
      continue;
    }
    const inner = expandGroup(text.slice(at + 1, end), most);
    if (inner === undefined || inner.length * ways.length > most) return undefined;
    ways = ways.flatMap((way) => inner.map((one) => way + one));
    at = end + 1;
  }
  return ways;
}

function expandGroup(inner: string, most: number): readonly string[] | undefined {
  const parts = splitCommas(inner);
  if (parts.length === 1 && inner.includes('..')) return undefined;
  const ways: string[] = [];
  for (const part of parts) {
    const expanded = expandBraces(part, most);
    if (expanded === undefined || ways.length + expanded.length > most) return undefined;
    ways.push(...expanded);
  }
  return parts.length === 1 ? ways.map((way) => `{${way}}`) : ways;
}

/** Of the brace that closes the one at this place. */
function findEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1;
    if (text[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

function splitCommas(inner: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < inner.length; at += 1) {
    if (inner[at] === '{') depth += 1;
    if (inner[at] === '}') depth -= 1;
    if (inner[at] !== ',' || depth > 0) continue;
    parts.push(inner.slice(from, at));
    from = at + 1;
  }
  return [...parts, inner.slice(from)];
}
