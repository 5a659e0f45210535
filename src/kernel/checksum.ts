/**
 * A 32-bit checksum of text in base36 (FNV-1a over UTF-16 code units). It finds edits, not attacks, and took
 * three to four nanoseconds a character where it was measured.
 */
export function checksum(text: string): string {
  return fnv1a(text, 0x811c9dc5).toString(36);
}

/** Six characters hold 31 bits; the last steps spread them over all of the 32 that there are. */
export function shortHash(text: string): string {
  let hash = fnv1a(text, 0x811c9dc5);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (((hash ^ (hash >>> 16)) >>> 0) % 36 ** 6).toString(36).padStart(6, '0');
}

/** Three characters: enough to tell two values of one place apart, with one miss in 46,656. */
export function tinyHash(text: string): string {
  let hash = fnv1a(text, 0x811c9dc5);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const number = ((hash ^ (hash >>> 13)) >>> 0) % 46_656;
  return number.toString(36).padStart(3, '0');
}

const HIGH = 0x811c9dc5 | 0;
const LOW = 0x9747b28c | 0;

/** 53 bits of a line: as many as a number holds exactly. */
export function lineDigest(line: string): number {
  let high = HIGH;
  let low = LOW;
  for (let at = 0; at < line.length; at += 1) {
    const unit = line.charCodeAt(at);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x85ebca6b);
  }
  return (high >>> 11) * 0x1_0000_0000 + (low >>> 0);
}

/**
 * A text, its checksum and what comes after, as one text, and the digest of that. One pass: the upper half of the
 * digest so far is the checksum.
 */
export function digestWithChecksum(text: string, end: string): { text: string; digest: number } {
  let high = HIGH;
  let low = LOW;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x85ebca6b);
  }
  const rest = `${(high >>> 0).toString(36)}${end}`;
  for (let at = 0; at < rest.length; at += 1) {
    const unit = rest.charCodeAt(at);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x85ebca6b);
  }
  return { text: `${text}${rest}`, digest: (high >>> 11) * 0x1_0000_0000 + (low >>> 0) };
}

function fnv1a(text: string, seed: number): number {
  let hash = seed | 0;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
