import { isInterpreter, WRAPPERS } from './shell-programs.ts';

/**
 * Options by which an allowed program runs, loads or writes something else than what was allowed. `npm test` is one
 * thing and `npm test --script-shell=./x` another: a line with such an option is allowed by a prefix that has it.
 */
interface Risky {
  /** Without dashes. Their beginnings count, because many programs take them for the whole; of one letter: alone. */
  readonly long: readonly string[];
  /** Letters, alone or among others (`-sf x`, `-fx`). */
  readonly short?: string;
  /** Letters that count where the prefix is the program alone: options of its own, before any subcommand. */
  readonly own?: string;
  /** Words behind which a command stands. */
  readonly verbs?: readonly string[];
  /** A word such as `SHELL=./x` sets a variable of it. */
  readonly sets?: boolean;
  /** The first word may be letters without a dash (`tar xf`). */
  readonly dashless?: boolean;
  /** Behind `--` all is for the program that it starts. */
  readonly ends?: boolean;
}

const words = (text: string): readonly string[] => text.split(' ');

const NPM: Risky = {
  long: words(
    'script-shell shell node-options prefix local-prefix global-prefix global location userconfig globalconfig call package git editor browser ' +
      'viewer init-module onload-script node-gyp nodedir python cache logs-dir tmp registry proxy https-proxy pack-destination ' +
      'config dir cwd store-dir global-dir modules-dir modules-folder use-node-version use-yarnrc pnpmfile global-pnpmfile',
  ),
  short: 'cCg',
  ends: true,
};
const NODE: Risky = {
  long: words(
    'require import loader experimental-loader preload eval print env-file env-file-if-exists experimental-config-file openssl-config ' +
      'test-reporter test-reporter-destination test-global-setup config cwd import-map v8-flags shell allow-all allow-run allow-write allow-ffi ' +
      'diagnostic-dir cpu-prof-dir heap-prof-dir redirect-warnings report-dir report-directory build-snapshot build-sea',
  ),
  short: 'repcA',
};
const MAKE: Risky = { long: words('file makefile eval directory include-dir'), short: 'fCIE', sets: true };
const PYTEST: Risky = {
  long: words(
    'rootdir confcutdir config-file override-ini basetemp import-mode junitxml junit-xml log-file debug pastebin pdbcls ' +
      'cov-config cov-report html report-log pyargs plugin tx px rsyncdir resultlog pythonwarnings',
  ),
  short: 'pcoW',
};
/** Shells count with what stands beside these, or look up what is named; commands can stand in that. */
const TEST: Risky = { long: words('eq ne lt le gt ge v R t') };
/** By subcommand below, because letters have many meanings in git. */
const GIT: Risky = {
  long: words(
    'output output-directory ext-diff textconv exec exec-path extcmd upload-pack receive-pack open-files-in-pager config config-env template ' +
      'git-dir work-tree namespace super-prefix paginate separate-git-dir unsafe-paths export-marks tool strategy',
  ),
  short: 'O',
  own: 'cCpxous',
};
const TAR: Risky = {
  long: words(
    'to-command checkpoint-action use-compress-program rsh-command rmt-command info-script new-volume-script directory absolute-names ' +
      'one-top-level remove-files',
  ),
  short: 'ICFP',
  dashless: true,
};

const RISKY: ReadonlyMap<string, Risky> = new Map<string, Risky>([
  ['npm', NPM],
  ['pnpm', NPM],
  ['yarn', NPM],
  ['node', NODE],
  ['bun', NODE],
  ['deno', NODE],
  ['tsx', NODE],
  ['git', GIT],
  ['git rebase', { ...GIT, short: 'Ox' }],
  ['git difftool', { ...GIT, short: 'Oxt' }],
  ['git archive', { ...GIT, short: 'Oo' }],
  ['git format-patch', { ...GIT, short: 'Oo' }],
  ['git clone', { ...GIT, short: 'Ocu' }],
  ['git merge', { ...GIT, short: 'Os' }],
  ['git submodule', { ...GIT, verbs: ['foreach'] }],
  ['git bisect', { ...GIT, verbs: ['run'] }],
  [
    'cargo',
    {
      long: words('config manifest-path target-dir out-dir artifact-dir root path lockfile-path'),
      short: 'CZ',
    },
  ],
  [
    'go',
    { long: words('exec toolexec vettool overlay modfile ldflags gcflags asmflags gccgoflags compiler o C') },
  ],
  ['make', MAKE],
  ['gmake', MAKE],
  [
    'just',
    {
      long: words(
        'justfile working-directory shell shell-arg command set dotenv-path dotenv-filename chooser edit tempdir',
      ),
      short: 'fdcEe',
      sets: true,
    },
  ],
  ['task', { long: words('taskfile dir global init'), short: 'tdgi', sets: true }],
  ['pytest', PYTEST],
  ['py.test', PYTEST],
  ['find', { long: words('exec execdir ok okdir delete fprint fprint0 fprintf fls files0-from') }],
  ['fd', { long: words('exec exec-batch'), short: 'xX' }],
  ['rg', { long: words('pre hostname-bin') }],
  ['tar', TAR],
  ['bsdtar', TAR],
  ['test', TEST],
  ['[', TEST],
  ['printf', { long: [], short: 'v' }],
  ['sort', { long: words('output compress-program temporary-directory'), short: 'oT' }],
  [
    'gradle',
    {
      long: words(
        'init-script project-dir build-file settings-file include-build gradle-user-home project-cache-dir',
      ),
      short: 'IpbcgDP',
    },
  ],
  ['mvn', { long: words('file settings global-settings toolchains define'), short: 'fstD' }],
  [
    'tsc',
    {
      long: words(
        'outDir outFile project build declarationDir tsBuildInfoFile generateTrace generateCpuProfile',
      ),
      short: 'pb',
    },
  ],
  [
    'eslint',
    {
      long: words(
        'config resolve-plugins-relative-to rulesdir plugin parser format output-file cache-location cache-file',
      ),
      short: 'cfo',
    },
  ],
  ['vitest', { long: words('config root dir globalSetup outputFile api'), short: 'cr' }],
  [
    'jest',
    {
      long: words(
        'config rootDir globalSetup globalTeardown setupFiles setupFilesAfterEnv testRunner runner transform resolver testEnvironment outputFile cacheDirectory coverageDirectory',
      ),
      short: 'c',
    },
  ],
  [
    'mocha',
    { long: words('config require import reporter ui file opts package node-option'), short: 'rRun' },
  ],
]);

/** What these are given they read as a line or a script of their own. */
const READS_LINES = new Set(
  words(
    'eval ssh watch su script trap alias let declare typeset local export readonly unset read mapfile readarray getopts wait sed awk gawk mawk',
  ),
);
/** They take more words from elsewhere. */
const TAKES_WORDS = new Set(words('xargs parallel'));
/** Their first word is no program. */
const TAKES_A_PLACE = new Set(words('flock chroot taskset chrt'));
/** Options of programs that run others behind which no value stands, or the name of what is run. */
const NO_VALUE = new Set(words('-m -y --yes --no --no-install -q --quiet -i --'));

/**
 * Whether a command that begins with the words of a prefix does what the prefix says, and not something else. A word
 * that is not known is the name of a file in a folder.
 */
export function keepsTo(command: readonly (string | undefined)[], prefix: readonly string[]): boolean {
  const names = prefix.map((word) => word.slice(word.lastIndexOf('/') + 1));
  const [program = ''] = names;
  const more = command.slice(prefix.length);
  const run = runsOthers(program) ? names : [program];
  if (run.some((name) => TAKES_WORDS.has(name))) return false;
  if (more.length === 0) return true;
  if (run.some((name) => READS_LINES.has(name)) || !namesProgram(names)) return false;
  const at = run.findIndex((name) => RISKY.has(name));
  const name = names[at] ?? '';
  const subcommand = names.slice(at + 1).find((word) => !word.startsWith('-'));
  const risky = RISKY.get(`${name} ${subcommand ?? ''}`) ?? RISKY.get(name);
  return risky === undefined || !hasRisky(more, { risky, isAlone: subcommand === undefined });
}

function runsOthers(program: string): boolean {
  return WRAPPERS.has(program) || isInterpreter(program);
}

/** `env`, `sudo`, `bash` or `uv run` alone are leave for everything; `env npm` and `uv run pytest` are not. */
function namesProgram([program = '', ...rest]: readonly string[]): boolean {
  if (!runsOthers(program)) return true;
  let needed = TAKES_A_PLACE.has(program) ? 2 : 1;
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? '';
    if (word === '--test') return true;
    if (word.startsWith('-')) at += NO_VALUE.has(word) || word.includes('=') ? 0 : 1;
    // `timeout 60`, `env A=b`, `uv run` and `sudo bash` have not said it yet.
    else if (!/^(?:[\d.]+[smhd]?|\w+=.*|run|exec)$/s.test(word) && !runsOthers(word)) needed -= 1;
  }
  return needed <= 0;
}

function hasRisky(
  given: readonly (string | undefined)[],
  { risky, isAlone }: { readonly risky: Risky; readonly isAlone: boolean },
): boolean {
  const end = risky.ends === true ? given.indexOf('--') : -1;
  const options = (end === -1 ? given : given.slice(0, end)).map((word = '', at) =>
    risky.dashless === true && isAlone && at === 0 && /^\w+$/.test(word) ? `-${word}` : word,
  );
  const letters = (risky.short ?? '') + (isAlone ? (risky.own ?? '') : '');
  return options.some((word) => {
    if (risky.verbs?.includes(word) === true) return true;
    if (!word.startsWith('-'))
      return risky.sets === true && word.includes('=') && !/^(?:V|VERBOSE|DEBUG)=\w*$/.test(word);
    if (isLong(word, risky.long)) return true;
    return !word.startsWith('--') && letters.split('').some((letter) => word.includes(letter));
  });
}

/** `--script-shell`, `--script-sh`, `--scriptShell`, `-script-shell`, `--config.x`. */
function isLong(word: string, long: readonly string[]): boolean {
  const bare = word.replace(/^-+/, '').split('=', 1)[0] ?? '';
  if (bare === '') return false;
  if (word.length === 2) return long.includes(bare);
  const name = toName(bare);
  return long.map(toName).some((one) => one.startsWith(name) || name.startsWith(`${one}.`));
}

function toName(option: string): string {
  return option.replaceAll(/[-_]/g, '').toLowerCase();
}
