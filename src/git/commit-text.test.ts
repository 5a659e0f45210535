import { describe, expect, it } from 'vitest';
import {
  cleanCommit,
  dropSignature,
  formatCommit,
  isCleanCommit,
  nameAttempt,
  parseCommit,
} from './commit-text.ts';

const OID = 'a'.repeat(40);
const PERSON = 'Ada <a@x> 1700000000 +0100';

/** As git stores it. */
function toBody({ message = 'Fix it\n', author = PERSON, rest = '' } = {}): string {
  const text = `tree ${OID}\nparent ${OID}\nauthor ${author}\ncommitter ${PERSON}\n${rest}\n${message}`;
  return Buffer.from(text).toString('latin1');
}

function parse(body: string) {
  const commit = parseCommit(body);
  if (commit === undefined) throw new Error('not a commit');
  return commit;
}

const toText = (bytes: string): string => Buffer.from(bytes, 'latin1').toString();

describe('parseCommit', () => {
  it.each([
    ['a plain one', toBody()],
    ['a signed one', toBody({ rest: 'gpgsig -----BEGIN\n abc\n -----END\n' })],
    ['one with an encoding', toBody({ rest: 'encoding latin1\n' })],
    ['an empty message', toBody({ message: '' })],
    ['a message with empty lines', toBody({ message: '\n\nFix it\n\n\n' })],
    ['a first commit', toBody().replace(/parent .*\n/, '')],
  ])('reads and writes %s', (_name, body) => {
    expect(formatCommit(parse(body))).toBe(body);
  });

  it('reads what git would not make', () => {
    expect(parse(`tree ${OID}\n`)).toMatchObject({ author: 'unknown <> 0 +0000', message: '' });
    expect(parse(`tree ${OID}\ncommitter ${PERSON}\nodd line\n\nx`)).toMatchObject({
      rest: 'odd line\n',
      message: 'x',
    });
    expect(parseCommit('blob')).toBeUndefined();
  });

  it('drops a signature alone', () => {
    const body = toBody({ rest: 'gpgsig -----BEGIN\n abc\n -----END\nencoding latin1\n' });
    expect(dropSignature(parse(body)).rest).toBe('encoding latin1\n');
  });
});

describe('cleanCommit', () => {
  it.each([
    ['a title of the window', 'Good\u001b]0;pwn\u0007', 'Good\\u001b]0;pwn\\u0007'],
    ['a colour', 'Good\u001b[31m', 'Good\\u001b[31m'],
    ['a line that overwrites itself', 'Good\r bad', 'Good\\r bad'],
    ['letters from right to left', 'Good \u202e bad', 'Good \\u202e bad'],
    ['eight-bit controls', 'Good\u009b31m', 'Good\\u009b31m'],
    ['invisible letters', 'Go\u200bod', 'Go\\u200bod'],
  ])('[S2-F11] shows %s in message and names', (_name, text, shown) => {
    const clean = cleanCommit(parse(toBody({ message: `${text}\n`, author: `${text} <a@x> 1 +0000` })));
    expect(toText(clean.message)).toBe(`${shown}\n`);
    expect(toText(clean.author)).toBe(`${shown} <a@x> 1 +0000`);
    expect(isCleanCommit(parse(toBody({ message: text })))).toBe(false);
    expect(isCleanCommit(parse(toBody({ author: text })))).toBe(false);
  });

  it.each(['Grün\n\nMit\tTab 😀\n', '', 'a\n\n\nb'])('leaves %j as it is', (message) => {
    const commit = parse(toBody({ message }));
    expect(cleanCommit(commit)).toEqual(commit);
    expect(isCleanCommit(commit)).toBe(true);
  });

  it('has ends of lines of one kind', () => {
    expect(cleanCommit(parse(toBody({ message: 'a\r\n\r\nb\r\n' }))).message).toBe('a\n\nb\n');
  });

  it('[S2-F7] [S2-F11] is in UTF-8, so that no other encoding makes a line or a control of other bytes', () => {
    const body = toBody({ message: 'x+AAoACg-Forge-Task: fg-zzzz', rest: 'encoding UTF-7\n' });
    const clean = cleanCommit(parse(body));
    expect(clean).toMatchObject({ rest: '', message: 'x+AAoACg-Forge-Task: fg-zzzz' });
    expect(isCleanCommit(parse(body))).toBe(false);
    const latin = parse(`tree ${OID}\nauthor ${PERSON}\ncommitter ${PERSON}\nencoding iso-8859-1\n\nGr\xfcn`);
    expect(toText(cleanCommit(latin).message)).toBe('Grün');
    expect(isCleanCommit(latin)).toBe(true);
    // Said to be UTF-8 and is not.
    const wrong = parse(`tree ${OID}\nauthor ${PERSON}\ncommitter ${PERSON}\n\nGr\xfcn \x9b31m`);
    expect(toText(cleanCommit(wrong).message)).toBe('Grün \\u009b31m');
    expect(isCleanCommit(wrong)).toBe(false);
  });

  it('[S2-F11] drops lines that not every commit has', () => {
    expect(cleanCommit(parse(toBody({ rest: 'odd \u001b[31m\nmergetag object x\n y\n' }))).rest).toBe('');
  });

  it('[S2-F7] names the attempt in letters of any kind', () => {
    const commit = parse(toBody({ message: 'Grün\n\nForge-Task: fg-zzzz\n' }));
    const named = nameAttempt(commit, { 'Forge-Task': 'fg-a3f8' });
    expect(toText(named.message)).toBe('Grün\n\nForge-Task: fg-a3f8\n');
  });
});
