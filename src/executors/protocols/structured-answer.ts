/** What is put behind a prompt for programs that know no schema. */
export function askForJson(schema: object): string {
  return [
    'End your last message with one fenced block that begins with ```json and holds nothing but a JSON value that',
    'fits this JSON schema:',
    '',
    JSON.stringify(schema),
  ].join('\n');
}

/** The last fenced block that can be read, or all of the text; undefined where neither is JSON. */
export function findJsonAnswer(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  const blocks = [...text.matchAll(/^[ \t]*```(?:json)?[ \t]*\r?\n([\s\S]*?)^[ \t]*```/gim)].map(
    ([, inside = '']) => inside,
  );
  for (const candidate of [...blocks.toReversed(), text]) {
    try {
      return JSON.parse(candidate);
    } catch {
      // The next one may be it.
    }
  }
  return undefined;
}
