import {
  type CompletionCommand,
  type CompletionFlag,
  type CompletionModel,
  type CompletionValue,
  TASK_LISTINGS,
} from './completion-model.ts';

/** The completion script of fish. */
export function fishCompletion({ groups, commands, globals }: CompletionModel): string {
  const flags = [...globals, ...commands.flatMap((command) => command.flags)].filter(
    ({ value }) => value !== undefined,
  );
  const valued = new Set(
    flags.flatMap(({ name, short }) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]),
  );
  const next = [...groups].flatMap(([group, words]) =>
    words.map(
      ({ word, summary }) =>
        `    complete -c $program -n ${quote(`__forge_at ${quote(group)}`)} -a ${word} -d ${quote(summary)}`,
    ),
  );
  return `# fish completion for forge and forge-ctl
# Load it now:      forge completion fish | source
# Load it always:   forge completion fish > ~/.config/fish/completions/forge.fish
#                   (and once more as forge-ctl.fish, if you use that name)

# The command so far, a tab, and how many arguments follow it.
function __forge_state
    set -l commands ${commands.map(({ path }) => quote(path)).join(' ')}
    set -l tokens (commandline -opc)
    set -l path
    set -l count 0
    set -l skip 0
    set -l ended 0
    for token in $tokens[2..-1]
        if test $skip = 1
            set skip 0
        else if test $ended = 0; and string match -q -- -- "$token"
            set ended 1
        else if test $ended = 0; and string match -q -- '-?*' $token
            contains -- $token ${[...valued].join(' ')}; and set skip 1
        else if contains -- "$path" $commands
            set count (math $count + 1)
        else if test -z "$path"; and test "x$token" = xhelp
            continue
        else
            set path (string trim -- "$path $token")
        end
    end
    printf '%s\\t%s\\n' "$path" $count
end

function __forge_at
    set -l state (string split \\t -- (__forge_state))
    test "$state[1]" = "$argv[1]"
end

function __forge_arg
    set -l state (string split \\t -- (__forge_state))
    test "$state[1]" = "$argv[1]"; and test "$state[2]" -$argv[3] "$argv[2]"
    and not contains -- help (commandline -opc)[2]
end

# Ids from the project; silent where there is none.
function __forge_tasks
    set -l tokens (commandline -opc)
    set -l folder
    for at in (seq (count $tokens))
        contains -- $tokens[$at] -C --directory; and set folder -C $tokens[(math $at + 1)]
    end
    command $tokens[1] $folder task list --json --fields id $argv 2>/dev/null </dev/null | string match -r -a '(?<="id":")[^"]*'
end

for program in forge forge-ctl
    complete -c $program -f
${globals.map((flag) => `    complete -c $program ${toFlag(flag)}`).join('\n')}
${next.join('\n')}
${commands.flatMap(toLines).join('\n')}
end
`;
}

function toLines({ path, args, flags }: CompletionCommand): readonly string[] {
  return [
    ...args.flatMap(({ value, repeats }, at) => {
      const words = toWords(value);
      return words === ''
        ? []
        : [
            `    complete -c $program -n ${quote(`__forge_arg ${quote(path)} ${at} ${repeats ? 'ge' : 'eq'}`)} -a ${quote(words)}`,
          ];
    }),
    ...flags.map(
      (flag) => `    complete -c $program -n ${quote(`__forge_at ${quote(path)}`)} ${toFlag(flag)}`,
    ),
  ];
}

function toFlag({ name, short, description, value }: CompletionFlag): string {
  const spelled = `${short === undefined ? '' : `-s ${short} `}-l ${name} -d ${quote(description)}`;
  if (value === undefined) return spelled;
  if (value.from === 'files') return `${spelled} -r -F`;
  const words = toWords(value);
  return words === '' ? `${spelled} -x` : `${spelled} -x -a ${quote(words)}`;
}

function toWords({ words, from }: CompletionValue): string {
  const call =
    from === 'folders'
      ? ['(__fish_complete_directories)']
      : from === 'nothing' || from === 'files'
        ? []
        : [`(__forge_tasks ${TASK_LISTINGS[from]})`];
  return [...words, ...call].join(' ');
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;
}
