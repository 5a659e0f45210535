import { describe, expect, it } from 'vitest';
import { hasPrefix, matchCommand, matchLook, parsePrefix, unwrapShell } from './match-command.ts';

const CWD = '/work/checkout';
const ALLOW = ['npm test', 'git diff', 'cargo build', "grep -F 'a b'"];

describe('a command that is allowed by its first words', () => {
  it.each([
    ['npm test', []],
    ['npm test -- --watch=false', []],
    ['npm   test', []],
    ['"npm" \'test\'', []],
    ['npm test && git diff --stat', []],
    ['npm test; cargo build', []],
    ['npm test || git diff', []],
    ['npm test\ngit diff', []],
    ['git diff | npm test', []],
    ['npm test 2>&1', []],
    ['npm test > /dev/null 2>&1', []],
    ['npm test > out.txt', ['out.txt']],
    ['npm test >> /etc/passwd', ['/etc/passwd']],
    ['npm test &> log', ['log']],
    ['npm test >& log', ['log']],
    ['npm test < in.txt', ['in.txt']],
    ['CI=1 NODE_ENV=test npm test', []],
    [`cd ${CWD} && npm test`, []],
    ["grep -F 'a b' x", []],
    ['git diff $FILE *.ts', []],
  ])('%s matches', (line, files) => {
    expect(matchCommand(line, ALLOW, CWD)).toEqual({ matches: true, files });
  });

  it.each([
    'npm',
    'npm tests',
    'npm run test',
    'npmx test',
    './npm test',
    'test npm',
    'npm test; rm -rf x',
    'npm test && rm x',
    'npm test | sh',
    'npm test & rm x',
    'npm test &',
    'npm test\nrm x',
    'npm test $(rm x)',
    'npm test `rm x`',
    'npm test "$(rm x)"',
    'npm test <(rm x)',
    'npm test <(git diff)',
    'npm test $(git diff)',
    'npm test ${A:-$(rm x)}',
    'npm test <<< x',
    'npm test <<X\nx\nX',
    'npm test > $OUT',
    'npm test > "$(x)"',
    'npm test >& file$X',
    '(npm test)',
    '[[ -e x ]] && npm test',
    '(( x )) && npm test',
    '{ npm test; }',
    'if npm test; then npm test; fi',
    'while npm test; do npm test; done',
    'npm() { rm x; }; npm test',
    'time npm test',
    'env npm test',
    'sudo npm test',
    'PATH=/tmp npm test',
    'LD_PRELOAD=./x.so npm test',
    'NODE_OPTIONS=--require=./x npm test',
    'GIT_EXTERNAL_DIFF=./x git diff',
    'npm_config_script_shell=./x npm test',
    'CI=$(rm x) npm test',
    'CI=$X npm test',
    'PATH=/tmp; npm test',
    'export PATH=/tmp; npm test',
    'cd /tmp && npm test',
    `cd ${CWD}-too && npm test`,
    `cd ${CWD}/sub && npm test`,
    'cd sub && git diff',
    'cd && npm test',
    '$NPM test',
    'n{p,}m test',
    'np? test',
    '"$X" npm test',
    'npm $TEST',
    'eval npm test',
    "bash -c 'npm test'",
    'npm test "unclosed',
    'npm test \u0000; rm x',
    'npm test \u0000',
    'alias npm=rm; npm test',
    '! npm test; rm x',
    'coproc npm test',
    '',
    '# npm test',
  ])('%s does not', (line) => {
    expect(matchCommand(line, ALLOW, CWD)).toEqual({ matches: false });
  });

  it('is given as plain words', () => {
    expect(parsePrefix('npm  run "my test"')).toEqual(['npm', 'run', 'my test']);
    const wrong = [
      '',
      'a; b',
      'a && b',
      'a | b',
      '$A',
      'a > b',
      'A=b c',
      'a $(b)',
      'a *',
      '(a)',
      'a &',
      '"a',
    ];
    for (const text of wrong) expect([text, parsePrefix(text)]).toEqual([text, undefined]);
    expect(matchCommand('npm test', ['npm test; rm x', '', '$A'], CWD)).toEqual({ matches: false });
    expect(hasPrefix('cd x && npm test -- a', 'npm test')).toBe(true);
    expect(hasPrefix('npm test', 'npm t')).toBe(false);
  });

  it('is what a shell was given', () => {
    expect(unwrapShell("/bin/bash -lc 'npm test > x'")).toBe('npm test > x');
    expect(unwrapShell("bash -c 'a' b")).toBe("bash -c 'a' b");
    expect(unwrapShell('npm test')).toBe('npm test');
    // The word after it is a file.
    expect(unwrapShell("bash --norc 'npm test'")).toBe("bash --norc 'npm test'");
    expect(unwrapShell('bash -lc "$X"')).toBe('bash -lc "$X"');
  });
});

describe('a command that only looks', () => {
  it.each([
    ['ls -la src/a', ['a', 'src/a']],
    ['grep -rf/etc/shadow x', expect.arrayContaining(['/etc/shadow'])],
    ['git diff -O../x', expect.arrayContaining(['../x'])],
    ['tail --bytes=9 x', ['9', 'x']],
    ['git status', ['status']],
    ['git diff --stat && cat README.md', ['diff', 'README.md']],
    ['cat /etc/passwd', ['/etc/passwd']],
    ["grep -rn --include='*.ts' foo . 2>/dev/null", ['n', '*.ts', 'foo', '.']],
  ])('%s is one', (line, files) => expect(matchLook(line, CWD)).toEqual({ matches: true, files }));

  it.each([
    'rm x',
    'cat x > y',
    'echo x > y',
    'ls $(rm x)',
    'cat $FILE',
    'cat ~/.ssh/id_rsa',
    'ls *',
    'git diff --output=x',
    'git log -o x',
    'git -c core.pager=x log',
    'git diff --ext-diff',
    'ls; rm x',
    'cat x | sh',
    'GIT_PAGER=x git log',
    'cat <(rm x)',
    'git log -p --textconv',
    'git log --exec=x',
    'git log --git-dir=x',
    'git diff --work-tree x',
    'git diff -C x',
    'wc --files0-from=x',
    'du --files-from x',
    'grep --file=x y',
    'grep -f x y',
    'grep -nR x .',
    'grep --dereference-recursive x .',
    'file -f/etc/shadow',
    'file -bC -m x',
    'find . -delete',
  ])('%s is none', (line) => expect(matchLook(line, CWD)).toEqual({ matches: false }));
});
