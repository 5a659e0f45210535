import { GIVEN_OPTIONS } from './shell-programs.ts';

/**
 * Programs that take files of the work as their arguments and are told by no argument what to run: what they are given
 * is looked at, compiled, checked or tested. Every other program may run each file that it is given.
 */
const SYSTEM_TOOLS = new Set(
  [
    // What shells and systems bring.
    ': [ [[ b2sum base64 basename bg bzip2 cat cd chgrp chmod chown cksum cmp column comm cp curl cut date declare df',
    'diff dirname dirs disown du echo egrep exit expand export expr false fg fgrep file fmt fold getopts git gh grep gunzip',
    'gzip hash head hexdump hostname id install jobs join kill less let link ln local logname ls md5sum mkdir mktemp more mv',
    'nl od paste patch popd printenv printf ps pwd read readarray readlink readonly realpath return rg rm rmdir rsync seq set',
    'sha1sum sha256sum sha512sum shift shopt shred sleep sort split stat strings sum sync tac tail tar tee test touch tr',
    'tree true tsort tty type typeset ulimit umask unalias uname uniq unlink unset unxz unzip wait wc wget which whoami xmllint',
    'xxd xz yes zcat zip ag',
  ]
    .join(' ')
    .split(' '),
);
const COMPILERS = 'c++ cc clang clang++ cython g++ gcc ghc javac ld nvcc ocamlc protoc rustc swiftc'.split(
  ' ',
);
const TOOLS = new Set(
  [
    // Compilers and builders.
    'bazel bazelisk buf cabal cargo cmake ctest dune esbuild meson mvn parcel rollup sass stack swc tsc tsgo tsup vite vue-tsc',
    'webpack xcodebuild',
    // Linters and formatters.
    'actionlint alejandra ansible-lint attw autopep8 bandit basedpyright biome black brakeman checkstyle clang-format clang-tidy',
    'codespell commitlint cppcheck cpplint cspell deadnix depcheck detekt djlint dprint eslint flake8 gitleaks gofmt goimports',
    'golangci-lint govulncheck hadolint helm hlint htmlhint isort jshint knip ktlint kubeconform kubeval luacheck lychee madge',
    'markdownlint markdownlint-cli2 mypy nixfmt ormolu oxfmt oxlint php-cs-fixer phpcbf phpcs phpstan prettier psalm publint',
    'pycodestyle pydocstyle pyflakes pylint pyright pyupgrade reek remark revive rubocop ruff rustfmt semgrep shellcheck shfmt',
    'size-limit sqlfluff standard standardrb staticcheck statix stylelint stylua svelte-check taplo terraform tflint tofu trivy',
    'tsd typos vale vulture write-good xo yamllint yapf',
    // Runners of tests.
    'ava bats behat behave busted codecept cucumber cypress gotestsum jasmine jest karma lit mocha nose2 nosetests pest phpunit',
    'playwright prove py.test pytest robot rspec stestr tap tape testcafe trial uvu vitest web-test-runner wtr',
  ]
    .join(' ')
    .split(' ')
    .concat(COMPILERS),
);

export function isTool(program: string): boolean {
  return SYSTEM_TOOLS.has(program) || TOOLS.has(program);
}

/** Tools to which a short option before a file of the work says something else than `this file says what to do`. */
const OTHERWISE: Readonly<Record<string, ReadonlySet<string>>> = {
  '-c': new Set([...COMPILERS, ...'black cucumber isort mocha mypy prettier rspec'.split(' ')]),
  '-f': new Set([
    ...COMPILERS,
    ...'behave cucumber jest markdownlint mocha pylint rspec standard xo'.split(' '),
  ]),
  '-P': new Set(COMPILERS),
};

/** Whether an option of a tool names a file that says what to do. What systems bring has no such files. */
export function isGivenFile(program: string, option: string): boolean {
  if (SYSTEM_TOOLS.has(program)) return false;
  if (option === '-S') return program === 'ctest';
  return GIVEN_OPTIONS.has(option) && OTHERWISE[option]?.has(program) !== true;
}

/** Programs that are a tool or an interpreter, by their first word. */
const TWO_FACED = new Set('go swift dart crystal dotnet deno'.split(' '));
const TOOL_VERBS = new Set(
  (
    'add analyze bench bindgen build cache clean compile coverage doc docs env fix fmt format generate get info init install ' +
    'lint list mod nuget pack package pub publish remove restore spec test tool types vet version work'
  ).split(' '),
);

export function isTwoFaced(program: string): boolean {
  return TWO_FACED.has(program);
}

export function isToolVerb(word: string): boolean {
  return TOOL_VERBS.has(word);
}

/** Words before the file that a program runs. */
export const RUN_VERBS: ReadonlySet<string> = new Set('run exec script serve fsi x dlx watch'.split(' '));
