/** What programs do with the files that they are given, as far as it matters for what a line runs. */

/** Shells: they run the text after `-c` and what comes by their input. */
export const SHELLS = new Set('sh bash dash ash ksh mksh zsh fish rbash'.split(' '));

const LANGUAGES =
  /^(?:node|nodejs|deno|bun|tsx|ts-node|jiti|python|pypy|ruby|jruby|perl|php|lua|luajit|pwsh|Rscript|osascript|expect|tclsh|wish|groovy|java|kotlin|scala|elixir|iex|escript|guile|racket|julia|raku|ocaml|runghc|runhaskell|octave|babel-node|esno|vite-node|zx|nu|bb|gjs|qjs)[\d.]*$/;

/** Programs that run a file that they are given. */
export function isInterpreter(program: string): boolean {
  return program === '.' || program === 'source' || SHELLS.has(program) || LANGUAGES.test(program);
}

/** Programs that run the program they are given. */
export const WRAPPERS = new Set(
  (
    'env exec command builtin time nice ionice chrt taskset nohup timeout xargs parallel sudo doas su stdbuf setsid flock strace ltrace ' +
    'script unbuffer catchsegv busybox npx bunx pnpx uvx uv poetry pipenv hatch rye direnv dotenv cross-env corepack bundle coverage valgrind watch ' +
    'retry unshare chroot ssh systemd-run ccache not c8 nyc pdm pixi'
  ).split(' '),
);

/** Those of them that run a program of the packages. */
export const PACKAGE_RUNNERS = new Set('npx bunx pnpx'.split(' '));

/** Those of them to which a word such as `run` is said first. */
export const VERB_WRAPPERS = new Set('uv poetry pipenv hatch rye pdm pixi bundle coverage direnv'.split(' '));

/** Programs that run a file or a program that they are given. */
export function runsFiles(program: string): boolean {
  return isInterpreter(program) || WRAPPERS.has(program);
}

/** Options by which a program is told its file, its folder, or what to load first; `--option=value` is taken too. */
export const FILE_OPTIONS = new Set(
  '-f --file --makefile --justfile --taskfile --rakefile -r --require --import --loader --experimental-loader --rcfile --init-file --preload --env-file --from-file --init-script --build-file --settings-file --noxfile'.split(
    ' ',
  ),
);
/** Options by which every program is told what to do, but for those that take them otherwise. */
export const GIVEN_OPTIONS = new Set(
  '-P -f -c --from-file --file --config --config-file --configfile --conf --rulesdir --rules --script'.split(
    ' ',
  ),
);
export const FOLDER_OPTIONS = new Set(
  '-C --directory --chdir --prefix --cwd --dir --working-directory --working-dir'.split(' '),
);

/** Options after which an interpreter is given code. */
export const CODE_OPTIONS = new Set('-c -e -E -p -pe --eval --print --command -Command'.split(' '));

/** Programs that hand on what is in the files they are given. */
export const READERS = new Set(
  'cat sed head tail tr grep tee cut envsubst curl wget gunzip zcat base64 awk'.split(' '),
);

/** Variables that decide which program, library or file is loaded. */
export const LOADING_VARIABLES =
  /^(?:PATH|CDPATH|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|IFS|MAKEFILES|MAKEFLAGS|LD_\w+|DYLD_\w+|NODE_OPTIONS|NODE_PATH|PYTHON\w+|PERL5\w+|PERLLIB|RUBYOPT|RUBYLIB|GIT_\w+|npm_config_\w+|NPM_CONFIG_\w+|\w*_WRAPPER|\w*SHELL)$/;

/** Scripts that a package manager runs besides when it installs. */
export const LIFECYCLE =
  'preinstall install postinstall prepublish preprepare prepare postprepare dependencies'.split(' ');
