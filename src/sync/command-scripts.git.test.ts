import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { runTestGit, tempFolder, type TempFolder } from '../../tests/support/temp-repo.ts';
import { type CommandScript, findCommandScripts } from './command-scripts.ts';
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
  '.npmrc': 'color=false\n',
  'README.md': 'read me\n',
  'scripts/check.js': 'true;\n',
  'scripts/check.py': 'print(1)\n',
  'check.jl': 'true\n',
  'Check.pm': '1;\n',
  'check.rb': 'true\n',
  'tools/check/main.go': 'package main\n',
  'tools/index.mjs': 'true;\n',
  'Check.java': 'class Check {}\n',
  'src/a.ts': 'export {};\n',
  'tests/test_a.py': 'pass\n',
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
    'echo "unclosed',
    '(cd scripts); ./ci.sh',
    'cd a; cd b; cd c; cd d; cd e; ./ci.sh',
    'generate | sh',
    'exec 3<ci.sh; bash <&3',
    'eval eval eval eval eval eval eval eval eval eval ./ci.sh',
    'S=plain.sh; read S < list; bash $S',
    'S=ci.sh.x; bash ${S%.x}',
    'find -exec bash {} +',
    'find . -execdir bash {} \\;',
    'find . -ok bash {} \\;',
    'find . -okdir bash {} \\;',
    'awk \'BEGIN { system("./ci.sh") }\'',
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
    'find scripts -type f -exec {} \\;',
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
    "trap 'bash plain.sh' EXIT",
    'read x; BASH_ENV=plain.sh bash -c true',
    'S=plain; S+=.sh; bash $S',
    'yarn bash plain.sh',
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
    'ls | xargs python',
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
    'npm $VERB',
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
  ['.npmrc', 'npm test', 'npm ci', 'pnpm install'],
  ['Makefile', 'make', 'make test', 'make -j4 test', 'timeout 60 make test'],
  ['sub/Makefile', 'make -C sub test', 'cd sub && make', 'make --directory=sub'],
  ['other.mk', 'make -f other.mk', 'make --file=other.mk', 'make -fother.mk test'],
  ['justfile', 'just test'],
  ['run.awk', 'awk -f run.awk README.md', 'gawk --file=run.awk x', 'sed -f run.awk x', 'sed -nf run.awk x'],
];

/** [S-H2] The same where the script is named without its ending, as a module, in code, or to a program that is not known. */
const MODULES: typeof WAYS = [
  [
    'scripts/check.js',
    'node scripts/check',
    'node ./scripts/check --all',
    'node -r ./scripts/check -e 1',
    'node -e 1 -r ./scripts/check',
    'node --require=./scripts/check -e 1',
    'node --import ./scripts/check.js ci.js',
    'node -r ./scripts/check ci.js',
    'node -e "require(\'./scripts/check\')"',
    'node -pe "require(\'./scripts/check\')"',
    'node --eval="require(\'./scripts/check\')"',
    'node --input-type=module -e "await import(\'./scripts/check.js\')"',
    'node -e "import(\'./scripts/check.js?x=1\')"',
    'cd scripts && node check',
    'tsx scripts/check',
    'ts-node scripts/check',
    'deno run -A scripts/check.js',
    'deno eval "import \'./scripts/check.js\'"',
    'bun scripts/check.js',
    'npx tsx scripts/check',
    'c8 node scripts/check',
    'strange-runner scripts/check.js',
    'strange-runner --script=scripts/check.js',
    'strange-runner -sscripts/check.js',
    "strange-runner 'node scripts/check.js'",
  ],
  [
    'scripts/check.py',
    'python3 -m scripts.check',
    'python3 -mscripts.check',
    'python3 -Im scripts.check',
    'cd scripts && python3 -mcheck',
    "python3 -c 'import scripts.check'",
    "python3 -c'import scripts.check'",
    "python3 -Bc 'import scripts.check'",
    "python3 -c 'from scripts import check'",
    'python3 -c \'import importlib; importlib.import_module("scripts.check")\'',
    'python3 -c \'import runpy; runpy.run_path("scripts/check.py")\'',
    'uv run scripts/check.py',
    'uv run python scripts/check.py',
    'coverage run scripts/check.py',
    'python3 -W ignore scripts/check.py',
  ],
  [
    'check.jl',
    'julia check.jl',
    'julia --project=. check.jl',
    'strange check.jl',
    'Rscript check.jl',
    'lua check.jl',
    'php check.jl',
    'raku check.jl',
    'elixir check.jl',
    'escript check.jl',
    'swift check.jl',
    'dotnet script check.jl',
    'dotnet fsi check.jl',
    'kotlinc -script check.jl',
    'groovy check.jl',
    'scala check.jl',
    'tclsh check.jl',
    'octave check.jl',
    'sbcl --script check.jl',
    'emacs --batch -l check.jl',
    'psql -f check.jl',
    'timeout 5 julia check.jl',
    'timeout -s KILL 5 strange check.jl',
  ],
  [
    'Check.pm',
    'perl -I. -MCheck -e 1',
    'perl -I . -MCheck -e 1',
    "perl -I. -e 'use Check'",
    'perl -MCheck -e1',
  ],
  [
    'check.rb',
    'ruby -r./check -e 1',
    'ruby -r ./check -e 1',
    'ruby -I. -rcheck -e 1',
    'ruby -e \'require "./check"\'',
  ],
  [
    'tools/check/main.go',
    'go run tools/check/main.go',
    'go run ./tools/check',
    'cd tools/check && go run main.go',
  ],
  ['tools/index.mjs', 'node tools', 'node ./tools/index', 'node -e "import(\'./tools/index.mjs\')"'],
  ['Check.java', 'java Check.java', 'java -cp . Check', 'java -cp x Check.java'],
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
  it.for(WAYS)(
    '%s asks again after one byte, in every way to name it',
    async ([file, ...lines], { annotate }) => {
      await trustCommands(place, lines, BY);
      expect(await listUntrusted(place, lines)).toEqual([]);
      write(file, FILES[file]?.replace('\n', ' \n') ?? '');
      const asked = (await listUntrusted(place, lines)).map(({ command }) => command);
      write(file, FILES[file] ?? '');
      expect(lines.filter((line) => !asked.includes(line))).toEqual([]);
      expect(await listUntrusted(place, lines)).toEqual([]);
      await annotate(`${lines.length} asked again`);
    },
  );

  it('that is not there yet asks when it comes', async () => {
    const lines = ['./new.sh', 'bash new.sh', 'make -f new.sh', 'cd sub && ../new.sh'];
    await trustCommands(place, lines, BY);
    expect(await listUntrusted(place, lines)).toEqual([]);
    write('new.sh', SCRIPT);
    const asked = (await listUntrusted(place, lines)).map(({ command }) => command);
    rmSync(join(root, 'new.sh'));
    expect(asked).toEqual(lines);
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

  it('[S-M3] is not waited for where it is a pipe, and is not the file that was allowed', async () => {
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

  it.each(MODULES)('[S-H2] is %s, in every way to name it without its name', async (file, ...lines) => {
    const found = await Promise.all(lines.map((line) => findCommandScripts(line, { root })));
    const isNamed = ({ path, kind }: CommandScript): boolean =>
      path === file || (kind === 'folder' && path !== './' && file.startsWith(path));
    expect(lines.filter((_, at) => found[at]?.some(isNamed) !== true)).toEqual([]);
  });

  it('[S-H2] is not a file of the work that a compiler, a linter or a runner of tests is given', async () => {
    const lines = [
      'pytest tests/test_a.py',
      'python -m pytest tests/test_a.py -k a',
      'uv run pytest tests/test_a.py',
      'timeout -s KILL 60 pytest tests/test_a.py',
      'poetry run mypy tests/test_a.py',
      'tsc -p .',
      'tsc --noEmit src/a.ts',
      'eslint src',
      'npx eslint src/a.ts && npx -y prettier --check src/a.ts README.md',
      'vitest run src/a.ts',
      'node --test src/a.ts',
      'deno test src/a.ts',
      'go test ./... && go vet tools/check/main.go && go build ./tools/check',
      'cargo test && dotnet test src/a.ts',
      'docker run --rm image pytest tests/test_a.py',
      'diff README.md src/a.ts && jq . src/a.ts && git diff --exit-code -- src/a.ts',
      'shellcheck plain.sh',
    ];
    const found = await Promise.all(lines.map((line) => findCommandScripts(line, { root })));
    expect(lines.filter((_, at) => found[at]?.length !== 0)).toEqual([]);
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

  it('[S2-F6] is a program of the packages where git does not ignore them', async () => {
    write('node_modules/.bin/jest', SCRIPT);
    const names = async () => (await findCommandScripts('npx jest', { root })).map(({ path }) => path);
    expect(await names()).toEqual(['node_modules/.bin/jest']);
    write('.gitignore', 'node_modules\n');
    expect(await names()).toEqual([]);
    rmSync(join(root, '.gitignore'));
    rmSync(join(root, 'node_modules'), { recursive: true });
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
