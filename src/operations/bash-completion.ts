import {
  type CompletionCommand,
  type CompletionFlag,
  type CompletionModel,
  type CompletionValue,
  TASK_LISTINGS,
} from './completion-model.ts';

/** The completion script of bash; works from 3.2 on, which macOS still has. */
export function bashCompletion({ groups, commands, globals }: CompletionModel): string {
  const valued = (flags: readonly CompletionFlag[]): string =>
    spell(flags.filter(({ value }) => value !== undefined));
  const leaves = commands.map(
    ({ path, flags }) => `    '${path}') leaf=1 flags='${spell(flags)}' valued='${valued(flags)}' ;;`,
  );
  const next = [...groups].map(
    ([group, words]) => `    '${group}') _forge_words '${words.map(({ word }) => word).join(' ')}' ;;`,
  );
  return `# bash completion for forge and forge-ctl
# Load it now:      source <(forge completion bash)
# Load it always:   forge completion bash >> ~/.bashrc

# The words that fit what is typed.
_forge_words() {
  COMPREPLY+=($(compgen -W "$1" -- "$cur"))
}

# Ids from the project; silent where there is none.
_forge_tasks() {
  _forge_words "$("$program" \${folder[@]+"\${folder[@]}"} task list --json --fields id $1 2>/dev/null </dev/null | grep -o '"id":"[^"]*"' | cut -d '"' -f 4)"
}

_forge_paths() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY+=($(compgen "$1" -- "$cur"))
}

# The value of a flag, or of an argument by its number.
_forge_value() {
  case "$path:$1" in
${commands.flatMap(toValueCases).join('\n')}
  esac
  case "$1" in
${globals.flatMap((flag) => toFlagCases('', flag)).join('\n')}
  esac
}

# Whether the words so far are a whole command, and its flags.
_forge_command() {
  leaf=0 flags='' valued=''
  case "$path" in
${leaves.join('\n')}
  esac
}

_forge_next() {
  case "$path" in
${next.join('\n')}
  esac
}

_forge() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" program="\${COMP_WORDS[0]}" path='' flag='' word leaf=0 flags='' valued=''
  local ended=0 count=0 helping=0 at
  local -a folder
  folder=()
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    if [[ -n "$flag" ]]; then
      # bash hands over --flag=value as three words
      [[ "$word" == '=' ]] && continue
      case "$flag" in -C | --directory) folder=(-C "$word") ;; esac
      flag=''
    elif [[ "$ended" == 0 && "$word" == -- ]]; then
      ended=1
    elif [[ "$ended" == 0 && "$word" == -?* ]]; then
      [[ " ${valued(globals)} $valued " == *" $word "* ]] && flag="$word"
    elif [[ "$leaf" == 1 ]]; then
      count=$((count + 1))
    elif [[ -z "$path" && "$word" == help ]]; then
      helping=1
    else
      path="\${path:+$path }$word"
      _forge_command
    fi
  done
  # A flag=value that stops at the equals sign has an empty value.
  [[ "$cur" == '=' ]] && cur=''
  if [[ -n "$flag" ]]; then
    _forge_value "$flag"
  elif [[ "$helping" == 0 && "$ended" == 0 && "$cur" == -* ]]; then
    _forge_words "$flags ${spell(globals)}"
  elif [[ "$leaf" == 0 ]]; then
    _forge_next
  elif [[ "$helping" == 0 ]]; then
    _forge_value "$count"
  fi
}

complete -F _forge forge forge-ctl
`;
}

function spell(flags: readonly CompletionFlag[]): string {
  return flags
    .flatMap(({ name, short }) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])])
    .join(' ');
}

function toValueCases({ path, args, flags }: CompletionCommand): readonly string[] {
  return [
    ...args.flatMap(({ value, repeats }, at) =>
      toCase([repeats ? `'${path}:'[${at}-9]*` : `'${path}:${at}'`], value),
    ),
    ...flags.flatMap((flag) => toFlagCases(`${path}:`, flag)),
  ];
}

function toFlagCases(before: string, { name, short, value }: CompletionFlag): readonly string[] {
  const spellings = [`--${name}`, ...(short === undefined ? [] : [`-${short}`])].map(
    (one) => `'${before}${one}'`,
  );
  return value === undefined ? [] : toCase(spellings, value);
}

function toCase(patterns: readonly string[], { words, from }: CompletionValue): readonly string[] {
  const calls = [
    ...(words.length === 0 ? [] : [`_forge_words '${words.join(' ')}'`]),
    ...(from === 'nothing'
      ? []
      : [
          from === 'files'
            ? '_forge_paths -f'
            : from === 'folders'
              ? '_forge_paths -d'
              : `_forge_tasks '${TASK_LISTINGS[from]}'`,
        ]),
  ];
  return calls.length === 0 ? [] : [`    ${patterns.join(' | ')}) ${calls.join('; ')} ;;`];
}
