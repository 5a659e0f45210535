import { ForgeError } from '#kernel/errors.ts';

const REPLACEMENT = '\ufffd';

/**
 * Node decodes argv and puts U+FFFD where bytes are not UTF-8; stored, that would be somebody's text silently
 * changed. Where the system still knows the bytes, such an argument is refused and a real U+FFFD is not.
 */
export function checkArgvBytes(argv: readonly string[], rawArgv: () => Uint8Array | undefined): void {
  if (!argv.some((word) => word.includes(REPLACEMENT))) return;
  const raw = rawArgv();
  if (raw === undefined) return;
  // Node's own arguments and the script stand in front.
  const words = splitAtNul(raw).slice(-argv.length);
  argv.forEach((word, index) => {
    const bytes = words[index];
    if (!word.includes(REPLACEMENT) || bytes === undefined || isUtf8(bytes)) return;
    throw new ForgeError('invalid_input', `Argument ${index + 1} is not valid UTF-8`, {
      details: { argument: index + 1 },
    });
  });
}

function splitAtNul(bytes: Uint8Array): readonly Uint8Array[] {
  const words: Uint8Array[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, start)) {
    words.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return words;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
