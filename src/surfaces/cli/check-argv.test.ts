import { describe, expect, it } from 'vitest';
import { checkArgvBytes } from './check-argv.ts';

/** As /proc/self/cmdline: each argument with a NUL behind it, Node and the script in front. */
function cmdline(...words: (string | Uint8Array)[]): () => Uint8Array {
  const parts = ['node', 'forge.js', ...words].flatMap((word) => [Buffer.from(word), Buffer.from([0])]);
  return () => Buffer.concat(parts);
}
const invalid = Buffer.from([0x61, 0xff]);

describe('checkArgvBytes', () => {
  it('does not look at the bytes without need', () => {
    expect(() => checkArgvBytes(['ready', 'ünïcode'], () => expect.unreachable())).not.toThrow();
  });
  it('lets a real U+FFFD pass', () => {
    expect(() => checkArgvBytes(['create', 'a\ufffd'], cmdline('create', 'a\ufffd'))).not.toThrow();
  });
  it('refuses bytes that are not UTF-8, and says where', () => {
    expect(() => checkArgvBytes(['create', 'a\ufffd'], cmdline('create', invalid))).toThrow(
      'Argument 2 is not valid UTF-8',
    );
  });
  it('is not confused by empty arguments', () => {
    expect(() => checkArgvBytes(['', 'a\ufffd', ''], cmdline('', invalid, ''))).toThrow('Argument 2');
    expect(() => checkArgvBytes(['', 'a\ufffd', ''], cmdline('', 'a\ufffd', ''))).not.toThrow();
  });
  it('refuses the encoding of half a surrogate pair', () => {
    expect(() => checkArgvBytes(['\ufffd\ufffd\ufffd'], cmdline(Buffer.from([0xed, 0xa0, 0x80])))).toThrow(
      'Argument 1',
    );
  });
  it('cannot tell where the system does not know', () => {
    expect(() => checkArgvBytes(['a\ufffd'], () => undefined)).not.toThrow();
  });
});
