import { describe, expect, it } from 'vitest';
import {
  findBlocks,
  hasPortableLine,
  hasTornBlock,
  isShellScript,
  OWN_SHEBANG,
  putBlock,
  removeBlocks,
  toBlock,
  toPortableLine,
} from './hook-block.ts';

const BLOCK = toBlock('pre-commit', { node: '/opt/node', script: '/opt/forge.cjs' });
const OLDER = '# >>> forge >>> of an older version\nold\n# <<< forge <<<\n';

describe('toBlock', () => {
  it('says everything that a hook has to know', () => {
    expect(BLOCK).toBe(
      [
        '# >>> forge >>> written by forge hooks install, removed by forge hooks uninstall',
        `if [ -z "\${FORGE_HOOK-}" ] && [ -x '/opt/node' ] && [ -f '/opt/forge.cjs' ]; then`,
        `  FORGE_HOOK=pre-commit '/opt/node' '/opt/forge.cjs' hook pre-commit "$@" </dev/null || true`,
        'fi',
        '# <<< forge <<<',
        '',
      ].join('\n'),
    );
  });

  it('quotes what a shell would read, and keeps UTF-8', () => {
    const block = toBlock('pre-commit', { node: "/it's/ü $HOME", script: '/`x`\\"' });
    const text = Buffer.from(block, 'latin1').toString('utf8');
    expect(text).toContain(String.raw`[ -x '/it'\''s/ü $HOME' ] && [ -f '/${'`x`'}\"' ]`);
  });
});

describe('putBlock and removeBlocks', () => {
  it.each([
    ['a new file', OWN_SHEBANG, `${OWN_SHEBANG}${BLOCK}`],
    ['an exit', '#!/bin/bash -eu\nexit 1\n', `#!/bin/bash -eu\n${BLOCK}exit 1\n`],
    ['CRLF', '#!/bin/sh\r\necho\r\n', `#!/bin/sh\r\n${BLOCK}echo\r\n`],
    ['no shebang', 'echo hi', `${BLOCK}echo hi`],
    ['nothing', '', BLOCK],
    ['any bytes', '#!/bin/sh\n\xff\xfe\x00', `#!/bin/sh\n${BLOCK}\xff\xfe\x00`],
  ])('first of all, and away without a trace: %s', (_, text, expected) => {
    expect(putBlock(text, BLOCK)).toBe(expected);
    expect(putBlock(expected, BLOCK)).toBe(expected);
    expect(removeBlocks(expected)).toBe(text);
  });

  it('ends a shebang that has no newline', () => {
    expect(putBlock('#!/bin/sh', BLOCK)).toBe(`#!/bin/sh\n${BLOCK}`);
  });

  it('takes the place of an older block, and leaves one of several', () => {
    const text = `#!/bin/sh\nfirst\n${OLDER}second\n${OLDER}third`;
    expect(putBlock(text, BLOCK)).toBe(`#!/bin/sh\nfirst\n${BLOCK}second\nthird`);
    expect(removeBlocks(text)).toBe('#!/bin/sh\nfirst\nsecond\nthird');
    expect(findBlocks(text)).toEqual([OLDER, OLDER]);
  });

  it('knows its block after an editor made CRLF of it, and at the end of a file without newline', () => {
    expect(removeBlocks(`#!/bin/sh\r\n${OLDER.replaceAll('\n', '\r\n')}x\r\n`)).toBe('#!/bin/sh\r\nx\r\n');
    expect(removeBlocks(`a\n${OLDER.trimEnd()}`)).toBe('a\n');
  });

  it('does not take replacement patterns in a path for such', () => {
    const block = toBlock('pre-commit', { node: '/$&/$1', script: '/$`' });
    expect(putBlock(`#!/bin/sh\n${OLDER}`, block)).toBe(`#!/bin/sh\n${block}`);
  });
});

describe('hasTornBlock', () => {
  it.each([
    ['#!/bin/sh\n# >>> forge >>>\nx\n', true],
    ['#!/bin/sh\nx\n# <<< forge <<<\n', true],
    [`${OLDER}# >>> forge >>>\n`, true],
    [OLDER, false],
    ['echo "# >>> forge >>>"\n', false],
  ])('%j: %s', (text, torn) => {
    expect(hasTornBlock(text)).toBe(torn);
  });
});

describe('hasPortableLine', () => {
  it.each([
    [`#!/bin/sh\n${toPortableLine('pre-commit')}\n`, true],
    ['forge hook pre-commit "$@"', true],
    ['  npx --no-install forge hook pre-commit\r\n', true],
    ['# forge hook pre-commit', false],
    ['forge hook post-merge', false],
    ['laforge hook pre-commit', false],
    [BLOCK, false],
  ])('%j: %s', (text, found) => {
    expect(hasPortableLine(text, 'pre-commit')).toBe(found);
  });
});

describe('isShellScript', () => {
  it.each([
    ['#!/bin/sh\n', true],
    ['#! /usr/bin/env bash\n', true],
    ['#!/usr/bin/env -S bash -eu\n', true],
    ['#!/usr/bin/env LANG=C zsh', true],
    ['#!/bin/bash -e\r\n', true],
    ['#!C:\\Git\\bin\\sh.exe\n', true],
    ['#!/bin/busybox sh\n', true],
    ['echo no shebang\n', true],
    ['', true],
    ['\x7fELF\x02\x01\0\0', false],
    ['#!/usr/bin/env python3\n', false],
    ['#!/usr/bin/env -S npx tsx\n', false],
    ['#!/usr/bin/fish\n', false],
    ['#!/usr/bin/env\n', false],
    ['#!\n', false],
  ])('%j: %s', (text, shell) => {
    expect(isShellScript(text)).toBe(shell);
  });
});
