import {
  type CompletionCommand,
  type CompletionFlag,
  type CompletionModel,
  type CompletionValue,
  TASK_LISTINGS,
} from './completion-model.ts';

/** The completion script of zsh: a file for $fpath that can also be sourced. */
export function zshCompletion({ groups, commands, globals }: CompletionModel): string {
  const valued = globals.flatMap(({ name, short, value }) =>
    value === undefined ? [] : [`--${name}`, ...(short === undefined ? [] : [`-${short}`])],
  );
  const next = [...groups].map(([group, words]) => {
    const items = words.map(({ word, summary }) => quote(`${word}:${summary.replaceAll('`', '')}`));
    return `    ${quote(group)}) items=(${items.join(' ')}) ;;`;
  });
  return `#compdef forge forge-ctl
# zsh completion for forge and forge-ctl
# Load it now:      source <(forge completion zsh)
# Load it always:   forge completion zsh > "\${fpath[1]}/_forge"

# Ids from the project; silent where there is none.
_forge_list() {
  local -a ids
  local flags="$1"
  shift
  ids=(\${(f)"$("$program" "\${folder[@]}" task list --json --fields id \${=flags} 2>/dev/null </dev/null | grep -o '"id":"[^"]*"' | cut -d '"' -f 4)"})
  compadd "$@" -a ids
}
${Object.entries(TASK_LISTINGS)
  .map(
    ([from, flags]) =>
      `${listFunction(from)}() { _forge_list '${flags}' "$@" }\n${listFunction(from)}_or_none() { compadd "$@" -- none; _forge_list '${flags}' "$@" }`,
  )
  .join('\n')}

_forge_next() {
  local -a items
  case "$1" in
${next.join('\n')}
  esac
  (( $#items )) && _describe 'command' items
}

_forge_command() {
  case "$1" in
${commands.map((command) => `    ${quote(command.path)}) specs=(${toSpecs(command).join(' ')}) ;;`).join('\n')}
    *) return 1 ;;
  esac
}

_forge() {
  local program="$words[1]" path_words='' word flag='' helping=0 leaf=0 at taken=1
  local -a folder specs global_specs
  global_specs=(${globals.map(toFlagSpec).join(' ')})
  for (( at = 2; at < CURRENT; at++ )); do
    word="$words[at]"
    if [[ -n "$flag" ]]; then
      [[ "$flag" == (-C|--directory) ]] && folder=(-C "$word")
      flag=''
    elif [[ "$word" == (-C|--directory)=* ]]; then
      folder=(-C "\${word#*=}")
    elif [[ "$word" == (${valued.join('|')}) ]]; then
      flag="$word"
    elif (( leaf )) || [[ "$word" == -* ]]; then
      continue
    elif [[ -z "$path_words" && "$word" == help ]]; then
      helping=1
    else
      path_words="\${path_words:+$path_words }$word"
      taken=$at
      _forge_command "$path_words" && leaf=1
    fi
  done
  if (( ! leaf )); then
    if [[ -n "$flag" || "$words[CURRENT]" == -* ]]; then
      _arguments -S : $global_specs
    else
      _forge_next "$path_words"
    fi
    return
  fi
  (( helping )) && return
  words=(forge "\${(@)words[taken+1,-1]}")
  (( CURRENT -= taken - 1 ))
  _arguments -S : $global_specs $specs
}

if [[ "$funcstack[1]" == _forge ]]; then
  _forge "$@"
else
  compdef _forge forge forge-ctl
fi
`;
}

function toSpecs({ args, flags }: CompletionCommand): readonly string[] {
  return [
    ...flags.map(toFlagSpec),
    ...args.map(({ name, value, repeats }, at) =>
      quote(`${repeats ? '*' : at + 1}:${name}:${toAction(value)}`),
    ),
  ];
}

function toFlagSpec({ name, short, description, repeats, value }: CompletionFlag): string {
  const text = `[${description.replaceAll('`', '').replaceAll(/[[\]\\:]/g, String.raw`\$&`)}]`;
  const long = value === undefined ? `--${name}${text}` : `--${name}=${text}:${name}:${toAction(value)}`;
  const spelled = quote(`${repeats ? '*' : ''}${long}`);
  if (short === undefined) return spelled;
  return `${spelled} ${quote(`-${short}${text}${value === undefined ? '' : `:${name}:${toAction(value)}`}`)}`;
}

function toAction({ words, from }: CompletionValue): string {
  if (from === 'files') return '_files';
  if (from === 'folders') return '_files -/';
  if (from !== 'nothing') return `${listFunction(from)}${words.includes('none') ? '_or_none' : ''}`;
  // A blank: there is something to type, and nothing to offer.
  return words.length === 0 ? ' ' : `(${words.join(' ')})`;
}

function listFunction(from: string): string {
  return `_forge_${from.replaceAll(' ', '_')}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
