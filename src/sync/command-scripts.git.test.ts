import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { runTestGit, tempFolder, type TempFolder } from '../../tests/support/temp-repo.ts';
import { findCommandScripts } from './command-scripts.ts';
import { isTrusted, listUntrusted, trustCommands, type TrustPlace } from './trust.ts';

const BY = { now: Date.UTC(2026, 1, 10), by: 'user:ada' };
const SCRIPT = '#!/bin/sh\ntrue\n';
const FILES: Readonly<Record<string, string>> = {
  'ci.sh': SCRIPT,
  'scripts/ci.sh': SCRIPT,
  'scripts/more/deep.sh': SCRIPT,
  'plain.sh': 'true\n',
  'ci.py': 'print(1)\n',
  'ci.js': 'true;\n',
  'tool/__main__.py': 'print(1)\n',
  'bin/mytool': SCRIPT,
  'hook.js': 'true;\n',
  Makefile: 'test:\n\ttrue\n',
  'sub/Makefile': 'test:\n\ttrue\n',
  'other.mk': 'test:\n\ttrue\n',
  justfile: 'test:\n\ttrue\n',
  'run.awk': 'BEGIN {}\n',
  'package.json':
    '{"version":"1.0.0","scripts":{"test":"node ci.js","pretest":"./ci.sh","prepare":"true","other":"false"}}',
  'sub/package.json': '{"scripts":{"check":"../ci.sh"}}',
  'README.md': 'read me\n',
};

/** Every way to name a script, with the file in which one byte is changed. */
const WAYS: readonly (readonly [file: string, ...lines: string[]])[] = [
  [
    'ci.sh',
    './ci.sh',
    './ci.sh --all',
    '"./ci.sh"',
    "'./'ci.sh",
    './c\\i.sh',
    'bash ci.sh',
    'bash -e -u ci.sh',
    'bash -eo pipefail ci.sh',
    'sh ./ci.sh',
    'source ci.sh',
    '. ./ci.sh',
    'npm ci && sh ./ci.sh',
    'true; ./ci.sh',
    'true || ./ci.sh',
    '! ./ci.sh',
    '( ./ci.sh )',
    '{ ./ci.sh; }',
    './ci.sh | cat',
    './ci.sh &',
    'CI=1 ./ci.sh',
    'env A=b ./ci.sh',
    'env -i A=b bash ci.sh',
    'time ./ci.sh',
    'nice -n 5 ./ci.sh',
    'timeout 5 ./ci.sh',
    'timeout -s KILL 5 bash ci.sh',
    'nohup ./ci.sh',
    'exec ./ci.sh',
    'command ./ci.sh',
    'xargs ./ci.sh',
    'sudo -u me ./ci.sh',
    'stdbuf -oL ./ci.sh',
    'setsid ./ci.sh',
    'if ./ci.sh; then true; fi',
    'if true; then ./ci.sh; fi',
    'while ./ci.sh; do true; done',
    'until ./ci.sh; do true; done',
    'for i in 1 2; do ./ci.sh; done',
    'case a in a) ./ci.sh;; esac',
    '`./ci.sh`',
    'echo $(./ci.sh)',
    'X=$(./ci.sh)',
    '$PWD/ci.sh',
    '"${PWD}/ci.sh"',
    '"$(pwd)"/ci.sh',
    'cd "$(git rev-parse --show-toplevel)" && ./ci.sh',
    'cat ci.sh | bash',
    'cat <ci.sh | sh',
    'bash < ci.sh',
    "bash -c 'bash ci.sh'",
    "sh -lc './ci.sh'",
    'bash -c "bash -c \'./ci.sh\'"',
    'flock l ./ci.sh',
    "flock l -c './ci.sh'",
    'find . -name x -exec ./ci.sh {} \\;',
    'find . -exec bash {} +',
    'find . -name "*.sh" | xargs bash',
    'f() { ./ci.sh; }; f',
    'S=./ci.sh; $S',
    'S=./ci.sh; bash "$S"',
    'for f in ci.sh plain.sh; do bash $f; done',
    'bash *.sh',
    './*.sh',
    'eval "./ci.sh"',
    "trap './ci.sh' EXIT",
    'bash <<< ./ci.sh',
    'bash <<X\n./ci.sh\nX',
    'echo ./ci.sh | sh',
    'strange-wrapper --flag ./ci.sh',
    'strange-wrapper bash ci.sh',
    '$UNKNOWN ci.sh',
    'bash "$UNKNOWN"',
    'bash -c "$UNKNOWN"',
    '"$(find . -name ci.sh)"',
    'bash <(cat ci.sh)',
    'BASH_ENV=./ci.sh bash -c true',
    '[[ -x ci.sh ]] && ./ci.sh',
    'test -x ./ci.sh && ./ci.sh',
    'coproc ./ci.sh',
    '$(echo ./ci.sh)',
    'npm test',
    'npm run test',
    'yarn test',
    'npx -y bash ci.sh',
    'npm exec -- bash ci.sh',
    'cd sub && npm run check',
    'npm --prefix sub run check',
    'python3 -c \'exec(open("ci.sh").read())\'',
    './ci.sh "unclosed',
    'docker run x ./ci.sh',
  ],
  [
    'scripts/ci.sh',
    'cd scripts && ./ci.sh',
    'cd scripts; ./ci.sh',
    '(cd scripts && bash ci.sh)',
    'pushd scripts && ./ci.sh',
    'cd $SOMEWHERE && ./ci.sh',
    'env -C scripts ./ci.sh',
    'bash scripts/*.sh',
    'for f in scripts/*.sh; do bash "$f"; done',
    './scripts/$NAME',
    'bash "scripts/$NAME.sh"',
    'find scripts -type f -exec bash {} \\;',
    'scripts/../scripts/ci.sh',
    "bash -c 'cd scripts && ./ci.sh'",
  ],
  [
    'scripts/more/deep.sh',
    'cd scripts && cd more && ./deep.sh',
    'cd scripts/more; bash deep.sh',
    'bash scripts/more/$X',
  ],
  [
    'plain.sh',
    'bash plain.sh',
    'source plain.sh',
    'cat ci.sh plain.sh | bash',
    'bash --rcfile plain.sh -i',
    'bash ./plain.sh',
  ],
  [
    'ci.py',
    'python ci.py',
    'python3 ci.py',
    'python3.11 ci.py',
    'python -u ci.py',
    'uv run python ci.py',
    'poetry run python ci.py',
    'coverage run ci.py && python3 ci.py',
  ],
  [
    'ci.js',
    'node ci.js',
    'node --no-warnings ./ci.js',
    'npx tsx ci.js',
    'bun ci.js',
    'deno run ci.js',
    'npm test',
    'npm t',
    'pnpm test',
  ],
  [
    'hook.js',
    'node -r ./hook.js ci.js',
    'node --import ./hook.js ci.js',
    'node --import=./hook.js ci.js',
    'NODE_OPTIONS="--require ./hook.js" npm test',
    'export NODE_OPTIONS=--require=./hook.js; npm test',
  ],
  ['tool/__main__.py', 'python -m tool'],
  ['bin/mytool', 'PATH=$PWD/bin:$PATH mytool', 'PATH="./bin:$PATH" mytool', 'export PATH=bin:$PATH; mytool'],
  ['Makefile', 'make', 'make test', 'make -j4 test', 'timeout 60 make test'],
  ['sub/Makefile', 'make -C sub test', 'cd sub && make', 'make --directory=sub'],
  ['other.mk', 'make -f other.mk', 'make --file=other.mk', 'make -fother.mk test'],
  ['justfile', 'just test'],
  ['run.awk', 'awk -f run.awk README.md'],
];

let folder: TempFolder;
let root: string;
let place: TrustPlace;
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};
beforeAll(async () => {
  folder = await tempFolder();
  root = join(folder.path, 'repo');
  for (const [path, text] of Object.entries(FILES)) write(path, text);
  for (const path of ['ci.sh', 'scripts/ci.sh', 'scripts/more/deep.sh', 'bin/mytool'])
    chmodSync(join(root, path), 0o755);
  runTestGit(root, ['init', '--quiet', '-b', 'main']);
  place = { home: join(folder.path, 'home'), paths: { root, common_dir: join(root, '.git') } };
});
afterAll(() => folder[Symbol.asyncDispose]());

describe('[M5] a script that a command runs', () => {
  it.each(WAYS)('%s asks again after one byte, in every way to name it', async (file, ...lines) => {
    await trustCommands(place, lines, BY);
    expect(await listUntrusted(place, lines)).toEqual([]);
    write(file, FILES[file]?.replace('\n', ' \n') ?? '');
    const asked = (await listUntrusted(place, lines)).map(({ command }) => command);
    write(file, FILES[file] ?? '');
    expect(lines.filter((line) => !asked.includes(line))).toEqual([]);
    expect(await listUntrusted(place, lines)).toEqual([]);
  });

  it('asks for the lines of package.json that are run, and for nothing else of it', async () => {
    const lines = ['npm test', 'npm ci', 'npm run -s other', 'npm test --workspaces'];
    await trustCommands(place, lines, BY);
    const asks = async (from: string, to: string): Promise<string[]> => {
      write('package.json', FILES['package.json']?.replace(from, to) ?? '');
      const asked = await listUntrusted(place, lines);
      write('package.json', FILES['package.json'] ?? '');
      return asked.map(({ command }) => command);
    };
    expect(await asks('1.0.0', '1.0.1')).toEqual(['npm test --workspaces']);
    expect(await asks('"node ci.js"', '"node ci.js; true"')).toEqual(['npm test', 'npm test --workspaces']);
    expect(await asks('"true"', '"false"')).toEqual(['npm ci', 'npm test --workspaces']);
    expect(await asks('"false"', '"true"')).toEqual(['npm run -s other', 'npm test --workspaces']);
    expect(await asks('{', '[')).toEqual(lines);
  });

  it('[S-M3] is waited for by nobody where it is a pipe, and is not the file that was allowed', async () => {
    const lines = ['npm test', './ci.sh', 'bash scripts/*.sh'];
    await trustCommands(place, lines, BY);
    const files = ['package.json', 'ci.sh', 'scripts/ci.sh'];
    for (const file of files) rmSync(join(root, file));
    await trustCommands(place, ['node absent.js'], BY);
    execFileSync('env', ['mkfifo', ...files, 'absent.js'], { cwd: root });
    const asked = await listUntrusted(place, [...lines, 'node absent.js']);
    for (const file of [...files, 'absent.js']) rmSync(join(root, file));
    for (const file of files) write(file, FILES[file] ?? '');
    chmodSync(join(root, 'ci.sh'), 0o755);
    chmodSync(join(root, 'scripts/ci.sh'), 0o755);
    expect(asked.map(({ command }) => command)).toEqual([...lines, 'node absent.js']);
  });

  it('is not a file that is only read, nor one that git ignores', async () => {
    write('.gitignore', 'dist/\n');
    write('dist/test.js', 'true;\n');
    const names = async (line: string) => (await findCommandScripts(line, { root })).map(({ path }) => path);
    expect(await names('cat README.md && grep -r x . && ls scripts')).toEqual([]);
    expect(await names('node dist/test.js && ./dist/run')).toEqual([]);
    expect(
      await names('test -n "$(git status --porcelain)" && echo $HOME > out && cargo test --all'),
    ).toEqual([]);
    rmSync(join(root, '.gitignore'));
    expect(await names('node dist/test.js')).toEqual(['dist/test.js']);
    rmSync(join(root, 'dist'), { recursive: true });
  });

  it('of a line that nobody can read is every file, and none can be trusted where there are too many', async () => {
    await trustCommands(place, ['$TOOL'], BY);
    write('README.md', 'other\n');
    expect(await isTrusted(place, '$TOOL')).toBe(false);
    write('README.md', FILES['README.md'] ?? '');
    expect(await isTrusted(place, '$TOOL')).toBe(true);
    const many = join(folder.path, 'many');
    for (let at = 0; at <= LIMITS.trust_tree_files; at += 1_000)
      mkdirSync(join(many, `${at}`), { recursive: true });
    for (let at = 0; at <= LIMITS.trust_tree_files; at += 1)
      writeFileSync(join(many, `${Math.floor(at / 1_000) * 1_000}`, `${at}`), '');
    expect(await findCommandScripts('$TOOL', { root: many })).toEqual([
      { path: './', kind: 'folder', sha256: 'too_large' },
    ]);
  });
});
