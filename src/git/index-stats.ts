import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';

/**
 * Where the entries of these paths (one character a byte) begin in the bytes of an index (versions 2 to 4). A file that is moved into the
 * working tree gets a new change time by that; git takes an entry with another time for an edited file until it has
 * compared the contents, so the times of the moved file are put into the entry.
 */
export function findIndexEntries(
  index: Buffer,
  paths: ReadonlySet<string>,
  hash_bytes: number,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  if (index.length < HEADER || index.toString('latin1', 0, 4) !== 'DIRC') return found;
  const version = index.readUInt32BE(4);
  const count = index.readUInt32BE(8);
  if (version < 2 || version > 4) return found;
  let name = Buffer.alloc(0);
  let at = HEADER;
  for (let entry = 0; entry < count; entry += 1) {
    const flags = index.readUInt16BE(at + STATS + hash_bytes);
    const begin = at + STATS + hash_bytes + ((flags & EXTENDED) === 0 ? 2 : 4);
    let start = begin;
    let kept = 0;
    if (version === 4) {
      const stripped = readVariable(index, begin);
      start = stripped.end;
      kept = name.length - stripped.value;
    }
    const end = index.indexOf(0, start);
    name = Buffer.concat([name.subarray(0, kept), index.subarray(start, end)]);
    const path = name.toString('latin1');
    if ((flags & STAGE) === 0 && paths.has(path)) found.set(path, at);
    at = version === 4 ? end + 1 : at + Math.ceil((end + 1 - at) / 8) * 8;
  }
  return found;
}

const HEADER = 12;
const STATS = 40;
const EXTENDED = 0x4000;
const STAGE = 0x3000;

/** As in packs: seven bits a byte, the first byte highest. */
function readVariable(index: Buffer, at: number): { readonly value: number; readonly end: number } {
  let end = at;
  let byte = index.readUInt8(end);
  let value = byte & 127;
  while ((byte & 128) !== 0) {
    end += 1;
    byte = index.readUInt8(end);
    value = (value + 1) * 128 + (byte & 127);
  }
  return { value, end: end + 1 };
}

/** What git keeps of a file to see that it was not touched. The entry's mode stays. */
export function putStats(index: Buffer, at: number, stats: BigIntStats): void {
  const low = (value: bigint): number => Number(BigInt.asUintN(32, value));
  const second = 1_000_000_000n;
  const before = [
    stats.ctimeNs / second,
    stats.ctimeNs % second,
    stats.mtimeNs / second,
    stats.mtimeNs % second,
    stats.dev,
    stats.ino,
  ];
  for (const [n, value] of before.entries()) index.writeUInt32BE(low(value), at + 4 * n);
  for (const [n, value] of [stats.uid, stats.gid, stats.size].entries())
    index.writeUInt32BE(low(value), at + 28 + 4 * n);
}

/** The last bytes of an index are the hash of all others; only zeros where git is told to leave it out. */
export function sealIndex(index: Buffer, hash_bytes: number): void {
  const end = index.length - hash_bytes;
  if (index.subarray(end).every((byte) => byte === 0)) return;
  const hash = createHash(hash_bytes === 20 ? 'sha1' : 'sha256').update(index.subarray(0, end));
  hash.digest().copy(index, end);
}
