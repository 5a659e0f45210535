import {
  literalOf,
  parseShellLine,
  type ShellCommand,
  type ShellLine,
  type ShellWord,
} from './shell-line.ts';
import {
  afterEquals,
  BLANK,
  joinPath,
  NOTHING,
  splitOption,
  type Around,
  type ScriptRef,
  type TreeView,
} from './shell-tree.ts';
import { findExecuted } from './find-executed.ts';
import { interpretProgram } from './interpret-program.ts';
import { isGivenFile, isTool, isTwoFaced, RUN_VERBS } from './known-tools.ts';
import { addNamedModules } from './module-files.ts';
import {
  addOfPackages,
  findPackageScripts,
  PACKAGE_MANAGERS,
  SCRIPT_RUNNERS,
  takeComposer,
  takeEveryPackage,
  takeScripts,
} from './package-scripts.ts';
import { addShadows, addShadowsOfProgram } from './python-shadows.ts';
import { addOwnFiles, addThere, MANY_PACKAGES, RUNNER_FILES } from './runner-files.ts';
import {
  FILE_OPTIONS,
  FOLDER_OPTIONS,
  isInterpreter,
  LOADING_VARIABLES,
  PACKAGE_RUNNERS,
  runsFiles,
  VERB_WRAPPERS,
  WRAPPERS,
} from './shell-programs.ts';

/** Everything: what a line runs that cannot be read may be any file. */
const WHOLE_TREE = './';
const MAX_DEPTH = 8;
const MAX_VALUES = 64;
const MAX_FOLDERS = 16;

/**
 * The files of the tree that a shell line names as what it runs, whether they are there or not. Too many rather than
 * too few: where it cannot be known which, it is the folder that can be meant, or the whole tree. What those files call
 * in turn is not looked at, except for the scripts of package.json.
 */
export function findScripts(line: string, view: TreeView): ScriptRef[] {
  const finder = new ScriptFinder(view);
  finder.read(line, ['']);
  return finder.found();
}

export class ScriptFinder {
  readonly view: TreeView;
  readonly #refs = new Map<string, ScriptRef>();
  /** What was read already: scripts may call each other in a circle. */
  readonly #texts = new Set<string>();
  #folders: string[] = [''];
  #line: ShellLine = parseShellLine('');
  #depth = 0;
  /** Programs of the packages are found before those of the system. */
  #hasPackages = false;

  constructor(view: TreeView) {
    this.view = view;
  }

  found(): ScriptRef[] {
    return [...this.#refs.values()];
  }

  /** The folders, from the top, in which the line may find itself. */
  folders(): readonly string[] {
    return this.#folders;
  }

  read(text: string, folders: readonly string[]): void {
    if (this.#depth >= MAX_DEPTH) return this.addUnknown();
    const key = JSON.stringify([text, folders]);
    if (this.#texts.has(key)) return;
    this.#texts.add(key);
    const before = { folders: this.#folders, line: this.#line };
    this.#depth += 1;
    this.#folders = [...folders];
    this.#line = parseShellLine(text);
    if (this.#line.unparsed) this.addUnknown();
    for (const [name, values] of this.#line.variables)
      for (const value of values) this.#noteLoading(name, value);
    for (const command of this.#line.commands) this.#takeCommand(command);
    this.#depth -= 1;
    this.#folders = before.folders;
    this.#line = before.line;
  }

  /** The command of words that stand behind another program. */
  run(words: readonly ShellWord[], around: Around = NOTHING): void {
    const [first, ...rest] = words;
    if (first === undefined) return;
    const programs = this.valuesOf(first);
    if (programs === undefined || programs.some((one) => literalOf(first) === undefined && /\s/.test(one)))
      return this.addUnknown(first);
    for (const program of programs) this.#runProgram(program, rest, around);
  }

  add(ref: ScriptRef): void {
    this.#refs.set(JSON.stringify([ref.path, ref.only, ref.part]), ref);
  }

  /** What may be any file that the word can name. */
  addUnknown(word?: ShellWord): void {
    const [first] = word?.pieces ?? [];
    const isHere =
      typeof first === 'object' &&
      (first.kind === 'pwd' || (first.kind === 'variable' && first.name === 'PWD'));
    const head =
      typeof first === 'string'
        ? first
        : isHere && typeof word?.pieces[1] === 'string'
          ? `.${word.pieces[1]}`
          : '';
    const prefix = head.slice(0, head.lastIndexOf('/') + 1);
    for (const path of this.resolve(prefix === '' ? '.' : prefix))
      this.add({ path: path === '' ? WHOLE_TREE : `${path}/` });
  }

  /** Every text that a word can become; undefined where that is not known. */
  valuesOf(word: ShellWord, depth = 0): readonly string[] | undefined {
    let values: string[] = [''];
    for (const piece of word.pieces) {
      const next = typeof piece === 'string' ? [piece] : this.#valuesOfPiece(piece, depth);
      if (next === undefined || values.length * next.length > MAX_VALUES) return undefined;
      values = values.flatMap((head) => next.map((tail) => head + tail));
    }
    return values;
  }

  /** A file that is run, in whichever folder it is found; where it is nowhere, that is noted too. */
  addFile(name: string): void {
    const paths = this.resolve(name);
    const there = paths.filter((path) => this.view.kindOf(path) !== 'none');
    for (const path of there.length > 0 ? there : paths)
      this.add({
        path: this.view.kindOf(path) === 'folder' ? (path === '' ? WHOLE_TREE : `${path}/`) : path,
      });
  }

  isThere(name: string): boolean {
    return this.resolve(name).some((path) => ['script', 'file'].includes(this.view.kindOf(path)));
  }

  enter(word: ShellWord): void {
    const values = this.valuesOf(word);
    if (values === undefined) return this.addUnknown();
    const more = values.flatMap((value) => this.resolve(value));
    const folders = [...new Set([...more, ...this.#folders])];
    if (folders.length > MAX_FOLDERS) this.addUnknown();
    this.#folders = folders.slice(0, MAX_FOLDERS);
  }

  #takeCommand({ words, assigned, redirects, fed_by }: ShellCommand): void {
    for (const { name, value } of assigned) this.#noteLoading(name, value);
    this.run(words, { redirects, fed_by });
  }

  /** What is read meanwhile finds the programs in `node_modules/.bin`. */
  withPackages(read: () => void): void {
    const before = this.#hasPackages;
    this.#hasPackages = true;
    read();
    this.#hasPackages = before;
  }

  #runProgram(program: string, args: readonly ShellWord[], around: Around): void {
    if (program.includes('/')) {
      this.addFile(program);
      addShadowsOfProgram(this, program);
    } else if (this.#hasPackages) addOfPackages(this, program);
    const name = program.slice(program.lastIndexOf('/') + 1);
    addOwnFiles(
      this,
      name,
      args.map((word) => literalOf(word) ?? ''),
    );
    if (name === 'alias') return args.forEach((word) => this.readArgs([afterEquals(word)]));
    if (name === 'cd' || name === 'pushd') return this.#takeFolder(args);
    if (name === 'eval' || name === 'trap') return this.readArgs(name === 'trap' ? args.slice(0, 1) : args);
    if (name === 'find') return findExecuted(this, args);
    if (RUNNER_FILES.has(name)) return this.#takeRunner(name, args);
    if (PACKAGE_MANAGERS.has(name)) return findPackageScripts(this, name, args);
    if (isInterpreter(name) || isTwoFaced(name)) return interpretProgram(this, name, args, around);
    if (PACKAGE_RUNNERS.has(name)) return this.withPackages(() => this.#unwrap(name, args, around));
    if (WRAPPERS.has(name)) return this.#unwrap(name, args, around);
    if (SCRIPT_RUNNERS.has(name)) return this.withPackages(() => takeScripts(this, undefined));
    if (MANY_PACKAGES.has(name)) takeEveryPackage(this, name);
    if (name === 'composer') takeComposer(this);
    this.#takeGiven(name, args);
    this.#lookAtArguments(args, isTool(name) ? 'script' : 'file');
  }

  /** Files that options name to a program which otherwise takes files of the work. */
  #takeGiven(name: string, args: readonly ShellWord[]): void {
    for (const [at, word] of args.entries()) {
      const { option, value } = splitOption(word, args[at + 1]);
      if (option === undefined || value === undefined || !isGivenFile(name, option)) continue;
      for (const given of this.valuesOf(value) ?? [])
        if (this.isThere(given) || (given !== '.' && this.isFolder(given))) this.addFile(given);
    }
  }

  #takeFolder(args: readonly ShellWord[]): void {
    const [target] = args.filter((word) => !/^-[LPe@n]*$/.test(literalOf(word) ?? ''));
    if (target !== undefined) this.enter(target);
  }

  readArgs(args: readonly ShellWord[]): void {
    const texts = args.map(literalOf);
    if (texts.some((text) => text === undefined)) return this.addUnknown();
    this.read(texts.join(' '), this.#folders);
  }

  #takeRunner(program: string, args: readonly ShellWord[]): void {
    const names = RUNNER_FILES.get(program) ?? [];
    // To those that are given code, `-r` says something else than to load a file.
    const { files, words } = this.takeOptions(
      names.length > 0 ? args : args.filter((word) => literalOf(word) !== '-r'),
    );
    for (const file of files) this.addNamed(file);
    this.#takeGiven(program, args);
    if (files.some((file) => (this.valuesOf(file) ?? []).some((name) => this.isThere(name)))) return;
    // Those without a file of their own are given code.
    if (names.length === 0) return addNamedModules(this, literalOf(words[0] ?? BLANK) ?? '');
    const there = names.filter((name) => addThere(this, name));
    if (there.length === 0) for (const name of names) this.addFile(name);
    // `mise exec -- ./ci.sh`
    this.#lookAtArguments(args, 'script');
  }

  /** What options name of files; folders are entered. Gives the words that are no options. */
  takeOptions(args: readonly ShellWord[]): {
    readonly files: readonly ShellWord[];
    readonly words: readonly ShellWord[];
  } {
    const files: ShellWord[] = [];
    const words: ShellWord[] = [];
    for (let at = 0; at < args.length; at += 1) {
      const word = args[at];
      if (word === undefined) continue;
      const { option, value, skips } = splitOption(word, args[at + 1]);
      if (option === undefined) {
        words.push(word);
        continue;
      }
      if (value === undefined) continue;
      // `-nf run.sed`
      if (FILE_OPTIONS.has(option) || /^-[A-Za-z]+f$/.test(option)) files.push(value);
      else if (FOLDER_OPTIONS.has(option)) this.enter(value);
      else continue;
      at += skips;
    }
    return { files, words };
  }

  addNamed(word: ShellWord): void {
    const values = this.valuesOf(word);
    if (values === undefined) this.addUnknown(word);
    else for (const value of values) this.addFile(value);
  }

  isFolder(name: string): boolean {
    return this.resolve(name).some((path) => this.view.kindOf(path) === 'folder');
  }

  #unwrap(name: string, args: readonly ShellWord[], around: Around): void {
    const skipped = args.findIndex((word) => !/^(?:-|\d|[A-Za-z_]\w*=)/.test(word.text));
    for (const word of args.slice(0, skipped === -1 ? undefined : skipped))
      this.#takeWrapperOption(word, args);
    const behind = skipped === -1 ? [] : args.slice(skipped);
    const verb = literalOf(behind[0] ?? BLANK) ?? '';
    if (name === 'coverage' && verb === 'run')
      return interpretProgram(this, 'python', behind.slice(1), NOTHING);
    const isVerb = VERB_WRAPPERS.has(name) && RUN_VERBS.has(verb);
    if (isVerb) return this.#unwrap(name, behind.slice(1), around);
    const inner = behind;
    // `uv run check.py`
    if (VERB_WRAPPERS.has(name) && this.isThere(verb)) {
      this.addFile(verb);
      if (verb.endsWith('.py')) addShadows(this, verb);
    }
    const program = literalOf(inner[0] ?? BLANK) ?? '';
    const isFed = name === 'xargs' || name === 'parallel';
    const before = this.#refs.size;
    // An option with a value may stand before the program: everything that can be run behind it counts as well.
    if (inner[0] !== undefined && (literalOf(inner[0]) !== undefined || inner.length === 1))
      this.run(inner, around);
    else if (inner[0] !== undefined) this.addUnknown(inner[0]);
    this.#lookAtArguments(inner.slice(1), 'script');
    if (isFed && (inner.length === 0 || runsFiles(program)) && this.#refs.size === before) this.addUnknown();
  }

  #takeWrapperOption(word: ShellWord, args: readonly ShellWord[]): void {
    const { option, value } = splitOption(word, args[args.indexOf(word) + 1]);
    const [, variable] = /^([A-Za-z_]\w*)=/.exec(word.text) ?? [];
    if (variable !== undefined) this.#noteLoading(variable, afterEquals(word));
    else if (value === undefined) return;
    else if (option === '-S' || option === '--split-string' || option === '-c') this.readArgs([value]);
    else if (option !== undefined && FOLDER_OPTIONS.has(option)) this.enter(value);
  }

  /**
   * Programs that are not known may run everything that they are given: a file, or another program with a file. Those that are
   * known to look at the files of the work run an interpreter's script, or a file that can be run, if anything.
   */
  #lookAtArguments(args: readonly ShellWord[], kind: 'script' | 'file'): void {
    let wanted = kind;
    for (const [at, word] of args.entries()) {
      const text = literalOf(word);
      if (text === undefined) {
        for (const value of this.valuesOf(word) ?? []) this.#addIf(wanted, value);
      } else if (text === '-c' && args[at + 1] !== undefined) {
        const code = literalOf(args[at + 1] ?? BLANK);
        if (code !== undefined) this.read(code, this.#folders);
      } else if (isInterpreter(text) && text !== '.' && args.length > at + 1) {
        interpretProgram(this, text, args.slice(at + 1), NOTHING);
        // What follows is that program's.
        wanted = 'script';
      } else if (isTool(text) && !this.isThere(text)) wanted = 'script';
      else if (wanted === 'script') this.#addIf(wanted, text);
      // The value of an option, or a whole line in one word.
      else
        for (const part of new Set([text, text.replace(/^--?\w/, ''), ...text.split(/[\s=,:;&|()"']+/)]))
          if (part !== '') this.#addIf(wanted, part);
    }
  }

  #addIf(kind: 'script' | 'file', name: string): void {
    for (const path of this.resolve(name)) {
      const found = this.view.kindOf(path);
      if (found === 'script' || found === kind) this.add({ path });
    }
  }

  #noteLoading(name: string, word: ShellWord): void {
    if (!LOADING_VARIABLES.test(name)) return;
    const kept = word.pieces.filter(
      (piece) => typeof piece === 'string' || piece.kind !== 'variable' || piece.name !== name,
    );
    const values = this.valuesOf({ ...word, pieces: kept });
    if (values === undefined) return this.addUnknown();
    for (const token of values.flatMap((value) => value.split(/[\s:=,]+/)))
      if (token !== '' && (this.isThere(token) || (token !== '/' && this.isFolder(token))))
        this.addFile(token);
  }

  #valuesOfPiece(
    piece: Exclude<ShellWord['pieces'][number], string>,
    depth: number,
  ): readonly string[] | undefined {
    switch (piece.kind) {
      case 'pwd':
        return ['.'];
      case 'top':
        return [this.view.top];
      case 'home':
        return [this.view.home];
      case 'glob':
      case 'other':
        return undefined;
      case 'variable': {
        if (piece.name === 'PWD') return ['.'];
        const words = this.#line.variables.get(piece.name);
        if (words === undefined) return piece.name === 'HOME' ? [this.view.home] : undefined;
        if (depth > MAX_DEPTH) return undefined;
        const values = words.map((word) => this.valuesOf(word, depth + 1));
        return values.some((one) => one === undefined || one.some((text) => /\s/.test(text)))
          ? undefined
          : values.flatMap((one) => one ?? []);
      }
    }
  }

  /** Paths from the top; none for what lies outside of the tree. */
  resolve(name: string): string[] {
    if (name.startsWith('/')) {
      const path = this.view.locate(name);
      return path === undefined ? [] : [path];
    }
    return [...new Set(this.#folders.flatMap((folder) => joinPath(folder, name) ?? []))];
  }
}
