import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isForgeError } from '#kernel/errors.ts';
import { NEW_FILE, ONBOARD_BLOCK, readBlockState, withBlock, withoutBlock } from './onboard-block.ts';

const BEGIN = '<!-- forge:begin -->';
const END = '<!-- forge:end -->';
const BOM = '\u00ef\u00bb\u00bf';
const put = (text: string): string => withBlock(text, 'AGENTS.md');
const take = (text: string): string | undefined => withoutBlock(text, 'AGENTS.md');
const stateOf = (text: string): string => readBlockState(text, 'AGENTS.md');

describe('the block', () => {
  it('is ASCII between its markers, names prime first and forbids hands on the files', () => {
    expect(ONBOARD_BLOCK).toMatch(/^[\n\x20-\x7e]+$/);
    expect(ONBOARD_BLOCK.startsWith(`${BEGIN}\n`)).toBe(true);
    expect(ONBOARD_BLOCK.endsWith(`\n${END}`)).toBe(true);
    expect(ONBOARD_BLOCK).toContain('Run `forge prime` first');
    expect(ONBOARD_BLOCK).toContain('Never edit `.forge/tasks.jsonl` or the database by hand');
  });
});

describe('withBlock', () => {
  it.each([
    ['text', '# Rules\n', `# Rules\n\n${ONBOARD_BLOCK}\n`],
    ['no final newline', '# Rules', `# Rules\n${ONBOARD_BLOCK}\n`],
    ['an empty file', '', `\n${ONBOARD_BLOCK}\n`],
    ['a byte order mark', `${BOM}# Rules\n`, `${BOM}# Rules\n\n${ONBOARD_BLOCK}\n`],
    ['an old block', `a\n${BEGIN}\nold\n${END}\nb`, `a\n${ONBOARD_BLOCK}\nb`],
    ['an old block behind a byte order mark', `${BOM}${BEGIN}\n${END}`, `${BOM}${ONBOARD_BLOCK}`],
    ['markers with other spaces', `<!--forge:begin-->\n  <!-- forge:end -->  \nb`, `${ONBOARD_BLOCK}\nb`],
    ['markers in prose', `Not \`${BEGIN}\`.`, `Not \`${BEGIN}\`.\n${ONBOARD_BLOCK}\n`],
  ])('on %s', (_, before, after) => {
    expect(put(before)).toBe(after);
  });

  it('writes the line ends of the file', () => {
    const block = ONBOARD_BLOCK.replaceAll('\n', '\r\n');
    expect(put('a\r\nb\r\n')).toBe(`a\r\nb\r\n\r\n${block}\r\n`);
    expect(put(`a\r\n${BEGIN}\r\nold\r\n${END}\r\nb\r\n`)).toBe(`a\r\n${block}\r\nb\r\n`);
  });
});

describe('readBlockState', () => {
  it.each([
    ['absent', '# Rules\n'],
    ['absent', `See ${BEGIN} and ${END}\n`],
    ['current', NEW_FILE],
    ['current', put('# Rules')],
    ['current', put('a\r\n')],
    ['current', put('a\n').replaceAll('\n', '\r\n')],
    ['outdated', NEW_FILE.replace('prime', 'primer')],
    ['outdated', `${BEGIN}\n${END}\n`],
  ])('%s: %j', (state, text) => {
    expect(stateOf(text)).toBe(state);
  });
});

describe('withoutBlock', () => {
  it('takes a file away that only Forge can have made', () => {
    expect(take(NEW_FILE)).toBeUndefined();
    expect(take(put(''))).toBe('');
    expect(take(`${BOM}${NEW_FILE}`)).toBe(BOM);
  });

  it.each([
    ['nothing to remove', 'a\n', 'a\n'],
    ['text was added below', `${put('a\n')}more\n`, 'a\nmore\n'],
    ['text was added below a file without final newline', `${put('a')}more\n`, 'a\nmore\n'],
    ['text was added below an empty file', `${put('')}more\n`, 'more\n'],
    ['the block was moved to the top', `${NEW_FILE}\n# Rules\n`, '\n# Rules\n'],
    ['the block was moved between two lines', `a\n${NEW_FILE}b\n`, 'a\nb\n'],
    ['an old block', `a\n\n${BEGIN}\nold\n${END}\n`, 'a\n'],
  ])('%s', (_, before, after) => {
    expect(take(before)).toBe(after);
  });
});

describe('any text without markers', () => {
  const piece = fc.constantFrom(
    '\n',
    '\r\n',
    '\r',
    '# Rules',
    ' ',
    '\u00e9',
    BOM,
    '<!-- x -->',
    '```',
    '\n\n',
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

  it('comes back byte for byte', () => {
    fc.assert(
      fc.property(text, (before) => {
        expect(take(put(before))).toBe(before);
      }),
    );
  });

  it('is kept before the block, which a second time changes nothing', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const once = put(before);
        expect(once.startsWith(before)).toBe(true);
        expect(stateOf(once)).toBe('current');
        expect(put(once)).toBe(once);
        const around = put(`${before}\n${BEGIN}\nold\n${END}\n${after}`);
        expect([around.startsWith(`${before}\n`), around.endsWith(`\n${after}`)]).toEqual([true, true]);
      }),
    );
  });
});

describe('markers that are not one pair', () => {
  it.each([
    [
      'two blocks',
      `${NEW_FILE}x\n${BEGIN}\n${END}\n`,
      'forge:begin on line 1, forge:end on line 13, forge:begin',
    ],
    ['a begin without an end', `a\n${BEGIN}\nb\n`, 'forge:begin on line 2'],
    ['an end without a begin', `a\nb\n${END}`, 'forge:end on line 3'],
    ['the wrong order', `${END}\r\n${BEGIN}\r\n`, 'forge:end on line 1, forge:begin on line 2'],
    [
      'two begins',
      `${BEGIN}\n${BEGIN}\n${END}\n`,
      'forge:begin on line 1, forge:begin on line 2, forge:end on line 3',
    ],
    ['very many', `${BEGIN}\n`.repeat(500), 'forge:begin on line 10, 490 more'],
  ])('%s: refused by all, with the lines', (_, text, said) => {
    for (const use of [put, take, stateOf]) {
      const error = errorOf(() => use(text));
      expect(error.code).toBe('invalid_input');
      expect(error.message).toContain('AGENTS.md does not hold one Forge block');
      expect(error.message).toContain(said);
      expect(error.hint).toContain('forge onboard');
    }
  });
});

function errorOf(work: () => unknown) {
  try {
    work();
  } catch (error) {
    if (isForgeError(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
