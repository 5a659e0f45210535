/** No shorter value is looked for. */
const SIGNS_AT_LEAST = 8;
/** As many at once as a call may have arguments. */
const AT_ONCE = 4_096;

type ReadTexts = <T>(
  bytes: Uint8Array,
  length: number,
  look: (said: string) => T | undefined,
) => T | undefined;

/**
 * Finds texts among bytes that are mostly noise: all that is whole UTF-8 and has some characters that can be seen. Text
 * in UTF-16 is found too, with a NUL beside each letter. Gives what `look` says first.
 */
export function createUtf8Reader(): ReadTexts {
  let units = new Uint16Array(256);
  return (bytes, length, look) => {
    if (length > units.length) units = new Uint16Array(Math.max(length, units.length * 2));
    let count = 0;
    let visible = 0;
    for (let at = 0; at <= length;) {
      const byte = at < length ? (bytes[at] ?? 0) : 0xff;
      if (byte < 0x80) {
        units[count] = byte;
        count += 1;
        if (byte >= 0x20 && byte < 0x7f) visible += 1;
        at += 1;
        continue;
      }
      const width = widthAt(bytes, at, length);
      if (width > 0) {
        count = addUnits(units, count, codeAt(bytes, at, width));
        visible += 1;
        at += width;
        continue;
      }
      if (visible >= SIGNS_AT_LEAST) {
        const said = look(toText(units, count));
        if (said !== undefined) return said;
      }
      count = 0;
      visible = 0;
      at += 1;
    }
    return undefined;
  };
}

/** How many bytes the character has that begins here with a byte beyond ASCII; 0 where none does. */
function widthAt(bytes: Uint8Array, at: number, length: number): number {
  const first = bytes[at] ?? 0;
  const width = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + width > length) return 0;
  for (let next = at + 1; next < at + width; next += 1) if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return 0;
  return width;
}

const FIRST_BITS = [0, 0, 0x1f, 0x0f, 0x07];

function codeAt(bytes: Uint8Array, at: number, width: number): number {
  let code = (bytes[at] ?? 0) & (FIRST_BITS[width] ?? 0);
  for (let next = at + 1; next < at + width; next += 1) code = (code << 6) | ((bytes[next] ?? 0) & 0x3f);
  return code;
}

function addUnits(units: Uint16Array, count: number, code: number): number {
  if (code < 0x1_00_00) {
    units[count] = code;
    return count + 1;
  }
  units[count] = 0xd8_00 | ((code - 0x1_00_00) >> 10);
  units[count + 1] = 0xdc_00 | (code & 0x3_ff);
  return count + 2;
}

function toText(units: Uint16Array, count: number): string {
  let text = '';
  for (let at = 0; at < count; at += AT_ONCE)
    text += String.fromCharCode(...units.subarray(at, Math.min(count, at + AT_ONCE)));
  return text;
}
