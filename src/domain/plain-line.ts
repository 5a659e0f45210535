/**
 * Whether a shell line says the same to every shell: bash, dash and zsh read the very words that stand there, and run
 * nothing to know them. Which shell an agent has is not known here, so what one of them reads in its own way (`$'…'`,
 * `${x@P}`, `*(e:…:)`, `=ls`, `{a,b}`, `!!`, `&>`) is not plain. What is not listed is not plain either.
 */
export function isPlainLine(line: string): boolean {
  if (HIDDEN.test(line)) return false;
  const token = new RegExp(TOKEN, 'uy');
  while (token.lastIndex < line.length) if (!token.test(line)) return false;
  return true;
}

/** Controls and what has no look of its own, but for a tab and the end of a line. */
const HIDDEN = /[^\n\t\P{C}]/u;

const QUOTED = String.raw`'[^']*'|"(?:[^"\\$\x60!]|\\[^\n!])*"`;
/** `~` and `^` are plain behind a name (`HEAD~1`, `HEAD^`), `=` behind one (`--a=b`). */
const WORD = String.raw`(?:[\w.\/:,@%+\-]|(?<=[\w~^])[~^]|(?<=[\w.%+@\-])=|${QUOTED})+`;
/** Names of files come out of it, and none of them looks like an option: there is a folder in front. */
const GLOB = String.raw`(?:[\w.][\w.@+\-]*)?\/[\w.@+\/\-]*[*?][\w.@+\/*?\-]*`;
const REDIRECT = String.raw`\d?(?:>>?|<)[ \t]*${WORD}|\d?[<>]&[\d\-]`;
const END = String.raw`(?=[ \t\n;&|]|$)`;
const TOKEN = String.raw`[ \t\n]+|&&|\|\|?|;(?![;&|])|(?:${REDIRECT}|${WORD}|${GLOB}|\[|\]|=)${END}`;
