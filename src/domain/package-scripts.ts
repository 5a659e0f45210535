import { literalOf, type ShellWord } from './shell-line.ts';
import { LIFECYCLE } from './shell-programs.ts';
import { addThere, MANY_PACKAGES, PACKAGE_FILES } from './runner-files.ts';
import type { ScriptFinder } from './shell-scripts.ts';

/** Programs that run scripts of package.json by patterns of their names. */
export const SCRIPT_RUNNERS = new Set('npm-run-all npm-run-all2 run-s run-p wireit'.split(' '));
export const PACKAGE_MANAGERS = new Set(['npm', 'pnpm', 'yarn', 'bun']);

const RUN = new Set(['run', 'run-script', 'rum', 'urn']);
const NAMED: Readonly<Record<string, string>> = {
  test: 'test',
  t: 'test',
  tst: 'test',
  start: 'start',
  stop: 'stop',
  restart: 'restart',
};
const INSTALL = new Set(
  'install i ci clean-install add update up rebuild rb link pack publish version install-test it cit'.split(
    ' ',
  ),
);
const EXECUTE = new Set(['exec', 'x', 'dlx', 'create', 'node']);
/** Options by which it works in several packages at once. */
const MANY = /^(?:-w|--workspace|--workspaces|-ws|-r|--recursive|-F|--filter|workspaces|foreach|workspace)$/;
/** Files that say which shell and which options the manager itself runs with. */
const OWN_FILES = (
  '.npmrc .yarnrc .yarnrc.yml bunfig.toml .pnpmfile.cjs .pnpmfile.mjs pnpm-workspace.yaml ' +
  '.yarn/releases/ .yarn/plugins/'
).split(' ');

/**
 * What a package manager runs of package.json: the lines of the scripts, and what those run in turn. The rest of the
 * file (versions, dependencies) is the work's own.
 */
export function findPackageScripts(finder: ScriptFinder, manager: string, args: readonly ShellWord[]): void {
  for (const name of OWN_FILES) addThere(finder, name);
  finder.withPackages(() => findInPackage(finder, manager, args));
}

function findInPackage(finder: ScriptFinder, manager: string, args: readonly ShellWord[]): void {
  if (args.some(({ text }) => MANY.test(text.split('=')[0] ?? '')))
    finder.add({ path: './', only: 'package.json' });
  const { words } = finder.takeOptions(args);
  const [verb, ...rest] = words;
  const name = verb === undefined ? undefined : literalOf(verb);
  if (verb !== undefined && name === undefined) return takeScripts(finder, undefined);
  if (name === undefined) return takeScripts(finder, manager === 'yarn' ? LIFECYCLE : []);
  if (EXECUTE.has(name)) return finder.run(rest);
  if (INSTALL.has(name)) return takeScripts(finder, LIFECYCLE);
  if (RUN.has(name)) {
    const wanted = rest[0] === undefined ? '' : literalOf(rest[0]);
    return takeScripts(finder, wanted === undefined ? undefined : around(wanted));
  }
  const known = NAMED[name];
  if (known !== undefined) return takeScripts(finder, around(known));
  if (manager === 'npm') return;
  takeScripts(finder, around(name));
  if (finder.isThere(name)) finder.addFile(name);
  // A program of the packages, by its name.
  finder.run(words);
}

/** A program of the packages, in the folder of the line or in one above it. */
export function addOfPackages(finder: ScriptFinder, program: string): void {
  for (const folder of finder.folders()) {
    const parts = folder === '' ? [] : folder.split('/');
    for (let length = parts.length; length >= 0; length -= 1) {
      const path = [...parts.slice(0, length), 'node_modules/.bin', program].join('/');
      if (['script', 'file'].includes(finder.view.kindOf(path))) finder.add({ path });
    }
  }
}

function around(name: string): readonly string[] {
  const restart = name === 'restart' ? ['prestop', 'stop', 'poststop', 'prestart', 'start', 'poststart'] : [];
  return [`pre${name}`, name, `post${name}`, ...restart];
}

/** Undefined: any of them. */
export function takeScripts(finder: ScriptFinder, names: readonly string[] | undefined): void {
  if (names?.length === 0) return;
  for (const folder of finder.folders()) {
    const path = folder === '' ? 'package.json' : `${folder}/package.json`;
    const text = finder.view.readText(path);
    const scripts = text === undefined ? undefined : readScripts(text);
    if (scripts === undefined) {
      finder.add({ path });
      continue;
    }
    const run = Object.entries(scripts).filter(([name]) => names?.includes(name) ?? true);
    finder.add({ path, part: JSON.stringify(run) });
    for (const [, line] of run) finder.read(line, [folder]);
  }
}

/** Of a program that runs them in every package: which packages there are is said in files of its own. */
export function takeEveryPackage(finder: ScriptFinder, program: string): void {
  for (const name of MANY_PACKAGES.get(program) ?? []) addThere(finder, name);
  for (const only of PACKAGE_FILES) finder.add({ path: './', only });
  finder.withPackages(() => takeScripts(finder, undefined));
}

/** Composer has several lines in one script; `@name` is another of them, `Name::of` code of a package. */
export function takeComposer(finder: ScriptFinder): void {
  for (const path of finder.resolve('composer.json')) {
    const text = finder.view.readText(path);
    const scripts = text === undefined ? undefined : readScripts(text, 'any');
    if (scripts === undefined) {
      finder.add({ path });
      continue;
    }
    finder.add({ path, part: JSON.stringify(scripts) });
    const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    const lines = Object.values(scripts).flat();
    for (const line of lines)
      if (typeof line === 'string') finder.read(line.replace(/^@(?:php\s|putenv\s)?/, ''), [folder]);
  }
}

/** Undefined for a file that cannot be read as one. */
function readScripts(text: string): Readonly<Record<string, string>> | undefined;
function readScripts(text: string, values: 'any'): Readonly<Record<string, unknown>> | undefined;
function readScripts(text: string, values?: 'any'): Readonly<Record<string, unknown>> | undefined {
  try {
    const { scripts = {} } = JSON.parse(text) as { scripts?: unknown };
    if (typeof scripts !== 'object' || scripts === null) return undefined;
    if (values === 'any') return { ...scripts };
    const lines = Object.entries(scripts).filter(
      (one): one is [string, string] => typeof one[1] === 'string',
    );
    return Object.fromEntries(lines);
  } catch {
    return undefined;
  }
}
