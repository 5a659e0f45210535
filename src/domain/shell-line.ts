import {
  forEachChild,
  parse,
  type Assignment,
  type Command,
  type Pipeline,
  type Redirected,
  type Redirection,
  type SyntaxNode,
  type Word,
} from 'unbash';
import { LIMITS } from '#kernel/limits.ts';

/**
 * A shell line as far as it can be read without running it: the simple commands in it, wherever they stand (in loops,
 * functions, pipelines, substitutions), and what is not literal.
 */
export interface ShellLine {
  readonly commands: readonly ShellCommand[];
  /** What the line itself gives a variable, by its name. Every value that it may have, or else none is known. */
  readonly variables: ReadonlyMap<string, readonly ShellWord[]>;
  /** What there is besides commands, pipelines, `&&`, `||` and `;`. */
  readonly constructs: ReadonlySet<ShellConstruct>;
  /** The parser did not understand all of it: nothing that is said here is complete. */
  readonly unparsed: boolean;
}

/** `expansion`: a variable, a glob or a brace. `compound`: a loop, a condition, a function, a group. */
export type ShellConstruct = 'substitution' | 'expansion' | 'compound' | 'background' | 'here_text';

export interface ShellCommand {
  /** The program and its arguments; empty for a bare assignment. */
  readonly words: readonly ShellWord[];
  /** What is set in front of it, or alone. */
  readonly assigned: readonly ShellAssignment[];
  /** Its own, and those of the group that it stands in. */
  readonly redirects: readonly ShellRedirect[];
  /** The commands whose output it may read. */
  readonly fed_by: readonly ShellCommand[];
}

export interface ShellAssignment {
  readonly name: string;
  readonly value: ShellWord;
}

export interface ShellRedirect {
  readonly operator: string;
  /** Of a here-document its text. */
  readonly target: ShellWord;
}

/** A text, or what becomes one only when the line is run. */
export type WordPiece =
  | string
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'pwd' | 'top' | 'home' | 'glob' | 'other' };

export interface ShellWord {
  readonly text: string;
  readonly pieces: readonly WordPiece[];
}

const OTHER: WordPiece = { kind: 'other' };
/** Builtins that set variables in ways that are not followed. */
const SETTERS = new Set([
  'read',
  'mapfile',
  'readarray',
  'printf',
  'getopts',
  'declare',
  'typeset',
  'local',
  'let',
  'unset',
  'eval',
]);

export function parseShellLine(text: string): ShellLine {
  const reader = new LineReader();
  if (isTooMuch(text)) {
    reader.unparsed = true;
    return reader.line();
  }
  try {
    reader.visit(parse(text), { fed_by: [], redirects: [] });
  } catch {
    // A parser that gives up has not understood it.
    reader.unparsed = true;
  }
  // No program can be given one, and a parser may read it as the end.
  if (text.includes('\0')) reader.unparsed = true;
  return reader.line();
}

/**
 * Each level of nesting is read once more by every level around it: what no person would write is not read at all. A quoted
 * parenthesis hides a level here, so that the openings are counted besides.
 */
function isTooMuch(text: string): boolean {
  if (text.length > LIMITS.shell_line_length) return true;
  let depth = 0;
  let openings = 0;
  for (const character of text) {
    if (character === '(' || character === '{') {
      depth += 1;
      openings += 1;
    } else if ((character === ')' || character === '}') && depth > 0) depth -= 1;
    if (depth > LIMITS.shell_line_depth || openings > LIMITS.shell_line_openings) return true;
  }
  return false;
}

/** The word itself, where it is the same whenever the line is run. */
export function literalOf({ pieces }: ShellWord): string | undefined {
  if (pieces.length === 0) return '';
  const [only, ...more] = pieces;
  return more.length === 0 && typeof only === 'string' ? only : undefined;
}

interface Around {
  readonly fed_by: readonly ShellCommand[];
  readonly redirects: readonly ShellRedirect[];
}

class LineReader {
  readonly #commands: ShellCommand[] = [];
  readonly #variables = new Map<string, ShellWord[]>();
  readonly #constructs = new Set<ShellConstruct>();
  unparsed = false;

  line(): ShellLine {
    const isFollowed = !this.#commands.some(
      ({ words: [first] }) => first !== undefined && SETTERS.has(literalOf(first) ?? ''),
    );
    return {
      commands: this.#commands,
      variables: isFollowed ? this.#variables : new Map<string, ShellWord[]>(),
      constructs: this.#constructs,
      unparsed: this.unparsed,
    };
  }

  visit(node: SyntaxNode, around: Around): void {
    const construct = CONSTRUCTS[node.type];
    if (construct !== undefined) this.#constructs.add(construct);
    if (node.type === 'Pipeline') return this.#takePipeline(node, around);
    if (node.type === 'Redirected') return this.#takeRedirected(node, around);
    this.#note(node, around);
    // A substitution, and what stands in a command's words, has an input of its own.
    const isApart = construct === 'substitution' || node.type === 'Command';
    forEachChild(node, (child) => this.visit(child, isApart ? NOTHING_AROUND : around));
  }

  #note(node: SyntaxNode, around: Around): void {
    if (node.type === 'Command') this.#takeCommand(node, around);
    if (node.type === 'Script' && (node.errors ?? []).length > 0) this.unparsed = true;
    if (node.type === 'Statement' && node.background === true) this.#constructs.add('background');
    if (node.type === 'Assignment') this.#set(node.name, [this.#toValue(node)]);
    if (node.type === 'For' || node.type === 'Select')
      this.#set(node.name.value, node.wordlist?.map((word) => this.#toWord(word)) ?? [UNKNOWN]);
    const isOpaque = 'script' in node && node.script === undefined;
    // What cannot be read in it is not known to be harmless.
    if (isOpaque && CONSTRUCTS[node.type] === 'substitution') this.unparsed = true;
  }

  #takePipeline(node: Pipeline, around: Around): void {
    if (node.prefixes.some(({ type }) => type === 'Time')) this.#constructs.add('compound');
    let { fed_by } = around;
    for (const command of node.commands) {
      // Each command knows all of those before it, also those in groups.
      if (Math.max(node.commands.length, fed_by.length) > LIMITS.shell_line_pipes) {
        this.unparsed = true;
        return;
      }
      const before = this.#commands.length;
      this.visit(command, { ...around, fed_by });
      fed_by = [...fed_by, ...this.#commands.slice(before)];
    }
  }

  #takeRedirected(node: Redirected, around: Around): void {
    const redirects = [...around.redirects, ...this.#toRedirects(node.redirects)];
    this.visit(node.command, { ...around, redirects });
    for (const redirect of node.redirects) this.visit(redirect, NOTHING_AROUND);
  }

  #takeCommand(node: Command, { fed_by, redirects }: Around): void {
    const assigned = node.prefix.flatMap((one) =>
      one.type === 'Assignment' ? [{ name: one.name, value: this.#toValue(one) }] : [],
    );
    const words = [...(node.name === undefined ? [] : [node.name]), ...node.args].map((one) =>
      one.type === 'Word'
        ? this.#toWord(one)
        : { text: one.text, pieces: join([`${one.name}=`, ...this.#toValue(one).pieces]) },
    );
    this.#commands.push({
      words,
      assigned,
      redirects: [...this.#toRedirects(node.redirects), ...redirects],
      fed_by,
    });
  }

  #set(name: string, values: readonly ShellWord[]): void {
    const known = this.#variables.get(name);
    if (known === undefined) this.#variables.set(name, [...values]);
    else for (const value of values) known.push(value);
  }

  #toValue({ value, append, index }: Assignment): ShellWord {
    if (append === true || index !== undefined || value.type !== 'Word') return UNKNOWN;
    return this.#toWord(value);
  }

  #toRedirects(redirects: readonly Redirection[]): ShellRedirect[] {
    return redirects.map((one) => {
      const { operator } = one;
      if (one.type !== 'HereDoc')
        return { operator, target: one.target === undefined ? UNKNOWN : this.#toWord(one.target) };
      const { text, parts } = one.body;
      return {
        operator,
        target: {
          text,
          pieces:
            parts === undefined || one.delimiter?.quoted === true ? [text] : join(parts.flatMap(toPieces)),
        },
      };
    });
  }

  #toWord({ text, value, parts }: Word): ShellWord {
    const pieces = parts === undefined ? [value] : parts.flatMap(toPieces);
    const [first = ''] = pieces;
    if (typeof first !== 'string' || !text.startsWith('~')) return { text, pieces: join(pieces) };
    const isOwn = first === '~' || first.startsWith('~/');
    return {
      text,
      pieces: join(isOwn ? [{ kind: 'home' }, first.slice(1), ...pieces.slice(1)] : [OTHER, ...pieces]),
    };
  }
}

const NOTHING_AROUND: Around = { fed_by: [], redirects: [] };
const UNKNOWN: ShellWord = { text: '', pieces: [OTHER] };
const CONSTRUCTS: Readonly<Partial<Record<SyntaxNode['type'], ShellConstruct>>> = {
  CommandExpansion: 'substitution',
  ProcessSubstitution: 'substitution',
  ArithmeticCommandExpansion: 'substitution',
  HereDoc: 'here_text',
  HereString: 'here_text',
  SimpleExpansion: 'expansion',
  ParameterExpansion: 'expansion',
  ArithmeticExpansion: 'expansion',
  Glob: 'expansion',
  ExtendedGlob: 'expansion',
  BraceExpansion: 'expansion',
  Redirected: 'compound',
  For: 'compound',
  Select: 'compound',
  If: 'compound',
  While: 'compound',
  Case: 'compound',
  Function: 'compound',
  Subshell: 'compound',
  BraceGroup: 'compound',
  Coproc: 'compound',
  ArithmeticFor: 'compound',
  ArithmeticCommand: 'compound',
  TestCommand: 'compound',
};

function toPieces(part: NonNullable<Word['parts']>[number]): WordPiece[] {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [part.value];
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.flatMap(toPieces);
    case 'SimpleExpansion':
      return [{ kind: 'variable', name: part.text.slice(1) }];
    case 'ParameterExpansion': {
      const isPlain = part.prefix === undefined && part.index === undefined && part.operation === undefined;
      return [isPlain ? { kind: 'variable', name: part.parameter } : OTHER];
    }
    case 'CommandExpansion':
      return [toPlace(part.text)];
    case 'Glob':
    case 'ExtendedGlob':
    case 'BraceExpansion':
      return [{ kind: 'glob' }];
    case 'ArithmeticExpansion':
    case 'ProcessSubstitution':
      return [OTHER];
  }
}

/** The two questions that scripts ask for the folder they stand in. */
function toPlace(text: string): WordPiece {
  const inner = text.replaceAll(/^\$\(|^`|\)$|`$/g, '').trim();
  if (inner === 'pwd') return { kind: 'pwd' };
  return /^git\s+rev-parse\s+--show-toplevel$/.test(inner) ? { kind: 'top' } : OTHER;
}

function join(pieces: readonly WordPiece[]): WordPiece[] {
  const joined: WordPiece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') joined[joined.length - 1] = last + piece;
    else if (piece !== '') joined.push(piece);
  }
  return joined;
}
