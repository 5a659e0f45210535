/** What stands in place of a secret. */
export const MASK = '[redacted]';

/** The mask in place of each of them, once where they overlap. */
export function maskSpans(
  text: string,
  spans: readonly { readonly from: number; readonly to: number }[],
): string {
  if (spans.length === 0) return text;
  let shown = '';
  let at = 0;
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    if (from >= at) shown += text.slice(at, from) + MASK;
    at = Math.max(at, to);
  }
  return shown + text.slice(at);
}
