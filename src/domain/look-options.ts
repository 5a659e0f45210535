/**
 * Options by which a program that looks still only looks, at nothing but what its other words name. An option that is
 * not here is asked for: it may read a list of files, an order or a pattern from anywhere.
 */
const NUMBER = String.raw`-\d+|-[nc]|-[nc][+-]?\d+|--lines=[+-]?\d+|--bytes=[+-]?\d+`;
const COLOR = String.raw`--(?:no-)?color|--color=\w+`;
const GIT_DIFF = [
  COLOR,
  '-[pubwszRM]+',
  String.raw`-U\d+|--unified=\d+|-M\d+%?|-[SG]`,
  '--(?:patch|no-patch|stat|numstat|shortstat|summary|name-only|name-status|raw|minimal|patience|histogram|check|no-ext-diff|no-textconv|no-renames|find-renames|full-index|quiet|exit-code|text|pickaxe-regex|function-context)',
  '--(?:ignore-all-space|ignore-space-change|ignore-blank-lines|ignore-space-at-eol|no-prefix|relative|compact-summary|dirstat|word-diff|color-words|cc)',
  String.raw`--(?:diff-filter|stat|word-diff|diff-algorithm|abbrev)=[\w,]+`,
].join('|');
const GIT_LOG = [
  GIT_DIFF,
  String.raw`-\d+|-n|-n\d+|--max-count=\d+|--skip=\d+|-[giEFP]`,
  '--(?:oneline|graph|all|branches|tags|remotes|decorate|no-decorate|follow|reverse|no-merges|merges|first-parent|abbrev-commit|no-abbrev-commit|topo-order|date-order|no-notes|left-right|cherry-pick|full-history)',
  String.raw`--(?:decorate|date)=[\w:-]+`,
  // `%G` has a signature checked, by a program.
  String.raw`--(?:since|until|after|before|author|committer|grep|format|pretty)=(?!.*%[-+ ]?G).*`,
].join('|');

/** By program, or by git and its subcommand. */
const OPTIONS: Readonly<Record<string, string>> = {
  ls: `${COLOR}|-[aAlhrtR1dFSsnpiGgoU]+|--(?:all|almost-all|human-readable|recursive|reverse|directory)`,
  pwd: '-[LP]',
  cat: '-[AbeEnstTuv]+|--(?:number|show-all|squeeze-blank)',
  head: `${NUMBER}|-[qv]`,
  tail: `${NUMBER}|-[qv]`,
  wc: '-[lwcmL]+|--(?:lines|words|bytes|chars)',
  file: '-[bhikN]+|--(?:brief|mime|mime-type|mime-encoding)',
  stat: '-[cLtx]|--(?:format|printf)=.*',
  du: String.raw`-[shackmxbS0]+|-d|-d\d+|--max-depth=\d+|--(?:summarize|human-readable|all|total|apparent-size)`,
  which: '-a',
  grep: [
    COLOR,
    String.raw`-[nriIlLcvwxoEFPhHsqabzZ]+|-[ABCm]|-[ABCm]\d+|-\d+|-e`,
    String.raw`--(?:context|after-context|before-context|max-count)=\d+|--(?:include|exclude|exclude-dir)=.*`,
    '--(?:line-number|recursive|ignore-case|files-with-matches|files-without-match|count|word-regexp|line-regexp|fixed-strings|extended-regexp|perl-regexp|no-filename|with-filename|only-matching|invert-match|quiet|no-messages)',
  ].join('|'),
  echo: '-.*',
  true: '-.*',
  // No others: shells count with what is beside `-eq`, and `-v` has subscripts, in which commands can stand.
  test: '-[efdsrwxLhnz]|-nt|-ot|-ef',
  '[': '-[efdsrwxLhnz]|-nt|-ot|-ef',
  'git status': String.raw`-[sbz]+|-u|-u(?:no|all|normal)|--(?:short|branch|long|ignored|untracked-files|porcelain|show-stash)|--untracked-files=\w+|--porcelain=v[12]|--ignored=\w+`,
  'git log': GIT_LOG,
  'git show': GIT_LOG,
  'git diff': `${GIT_DIFF}|--(?:cached|staged|merge-base)`,
  'git rev-parse':
    '-q|--(?:quiet|verify|show-toplevel|abbrev-ref|short|git-dir|absolute-git-dir|git-common-dir|is-inside-work-tree|is-bare-repository|show-prefix|show-cdup|symbolic-full-name|all)|--(?:short|abbrev-ref)=\\w+',
  'git ls-files':
    '-[cdmosutvz]+|--(?:cached|deleted|modified|others|stage|unmerged|exclude-standard|full-name|error-unmatch|ignored|directory)',
  'git blame': String.raw`-[wMelstpfn]+|-L|-L\d+,[+-]?\d+|--(?:porcelain|line-porcelain|show-name|show-number|show-email|root)|--date=[\w:-]+`,
};

/** The programs, as the first words of a command. */
export const LOOKS: readonly string[] = Object.keys(OPTIONS);

/** Whether all options of a command are known to look only. */
export function hasLookOptions(words: readonly string[]): boolean {
  const [program = '', subcommand = ''] = words;
  const known = OPTIONS[program === 'git' ? `git ${subcommand}` : program];
  const given = words.slice(1).filter((word) => word.startsWith('-') && word !== '-' && word !== '--');
  if (known === undefined) return program === 'cd' && given.length === 0;
  const pattern = new RegExp(`^(?:${known})$`, 'su');
  return given.every((word) => pattern.test(word));
}
