import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';

/** A file of the repository that a command runs. */
export interface CommandScript {
  /** From the repository's top folder, with slashes. */
  readonly path: string;
  /** `absent` where there is no such file now. */
  readonly sha256: string;
}

/** Programs that run the file they are given. */
const INTERPRETERS = new Set(
  '. source sh bash dash ksh zsh fish node deno bun tsx ts-node python python3 ruby perl php pwsh'.split(' '),
);
/** Programs that run the program they are given. */
const WRAPPERS = new Set('env exec command time nice nohup timeout xargs sudo stdbuf setsid'.split(' '));

/**
 * The files of the repository that a shell command names as what it runs, each by its contents: `./ci.sh`,
 * `bash scripts/ci.sh`, also behind `&&`. What those call in turn, and what a package manager or a Makefile does, is
 * not seen.
 */
export function findCommandScripts(command: string, root: string): CommandScript[] {
  const scripts = new Map<string, CommandScript>();
  for (const words of splitCommand(command)) {
    for (const script of findScripts(words, root)) scripts.set(script.path, script);
  }
  return [...scripts.values()];
}

function findScripts(words: readonly string[], root: string): CommandScript[] {
  const at = words.findIndex((word) => !isBeforeProgram(word));
  const program = words[at];
  if (program === undefined) return [];
  if (INTERPRETERS.has(program.slice(program.lastIndexOf('/') + 1))) {
    const found = words.slice(at + 1).flatMap((word) => readScript(word, root) ?? []);
    const there = found.find(({ sha256 }) => sha256 !== 'absent');
    return there === undefined ? [] : [there];
  }
  const script = program.includes('/') ? readScript(program, root) : undefined;
  return script === undefined ? [] : [script];
}

function isBeforeProgram(word: string): boolean {
  return (
    WRAPPERS.has(word) || /^(?:[A-Za-z_]\w*=|-|\d)/.test(word) || ['!', '{', 'then', 'do'].includes(word)
  );
}

function readScript(word: string, root: string): CommandScript | undefined {
  const path = resolve(root, word);
  const inside = relative(root, path);
  if (inside === '' || inside.startsWith('..') || path.includes('\0')) return undefined;
  return { path: inside.split(sep).join('/'), sha256: readDigest(path) };
}

function readDigest(path: string): string {
  try {
    return statSync(path).isFile() ? hash('sha256', readFileSync(path)) : 'absent';
  } catch {
    return 'absent';
  }
}

/** The words of each simple command. Quotes are taken away; what they hide from this reading, they hide. */
function splitCommand(command: string): string[][] {
  const commands: string[][] = [[]];
  const parts = command.matchAll(/[&|;()\n]+|(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s&|;()"'\\])+/gs);
  for (const [part] of parts) {
    if (/^[&|;()\n]/.test(part)) commands.push([]);
    else commands.at(-1)?.push(part.replaceAll(/["']|\\(?=.)/gs, ''));
  }
  return commands;
}
