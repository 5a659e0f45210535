/** How many texts a value has, keys too; counts no further than `most` and one more. */
export function countTexts(value: unknown, most: number): number {
  let count = 0;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && count <= most) {
    const one = waiting.pop();
    if (typeof one === 'string') count += 1;
    else if (typeof one === 'object' && one !== null) {
      const parts = Object.values(one);
      // A value that is no text is looked at too, and its key is one.
      count += Array.isArray(one) ? 0 : parts.length;
      if (count + parts.length > most && parts.length > most) return most + 1;
      waiting.push(...parts);
    }
  }
  return count;
}
